// What the synchronous figures share: banks cut from records, Algorithm 2 to the letter or a sound
// rule, and curves of means.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "parley/learn/schedule/schedule.h"
#include "parley/sim/monte_carlo/monte_carlo.h"
#include "studies/reproduce/curve.h"
#include "studies/reproduce/data/records.h"

namespace parley::reproduce::sync {

inline constexpr uint64_t kBanks = 3;
inline constexpr uint32_t kT = 100;  // the paper's rounds
inline const std::vector<double> kEpsilons = {0.1, 0.316, 1, 3.16, 10};
inline const std::vector<double> kThreeEpsilons = {0.1, 1, 10};

/// What the paper leaves open, found so that its first claims come out : for
/// lending and for fraud.
struct Profile {
  learn::Losses loss{};
  double l2 = 0;
  double box = std::numeric_limits<double>::infinity();
  double step = 0;   // c1
  double bound = 0;  // Xi, by which noise is scaled
};
Profile loans_profile();
Profile fraud_profile();

/// Banks and their records. A gradient clip of 0 is none, as in the paper.
class Banks {
 public:
  Banks(const Profile& profile, std::vector<data::Rows> rows, double clip, int threads);

  const sim::monte_carlo::Population& population() const { return *population_; }
  double rows(size_t bank) const { return population_->rows(bank); }
  size_t columns() const { return population_->columns(); }
  /// The largest curvature of a bank's mean loss; infinite for a loss with a kink.
  double curvature() const;

 private:
  std::unique_ptr<std::vector<data::Rows>> rows_;
  std::unique_ptr<sim::monte_carlo::Population> population_;
};

/// The first records of the file are the first bank's, the next the second's, and so on.
Banks equal_banks(const Profile& profile, const data::Rows& records, uint64_t size, double clip,
                  int threads);

/// How to train, and what noise that takes.
struct Plan {
  learn::Schedule schedule;
  double answers = 0;  // by which an owner splits its epsilon
  double bound = 0;    // Xi
};
/// Algorithm 2 with the paper's noise, split by T though T - 2 answers reach the output. The step
/// is the profile's, or shorter where records of a file are so uneven that it would overshoot.
Plan literal(const Profile& profile, const Banks& banks);

/// One point of a grid.
struct Budgets {
  std::vector<double> epsilon{};  // of each bank
  std::vector<double> weights{};  // empty: n_i / n
  double overlap = 1;             // kappa
};
std::vector<Budgets> equal_budgets(const std::vector<double>& epsilons);

using Samples = std::vector<sim::monte_carlo::Sample>;

/// By budgets. Jobs of different `stream`s draw different random numbers.
Result<Samples> sample(const Study& study, const Banks& banks, const Plan& plan,
                       const std::vector<Budgets>& budgets, uint64_t runs, uint64_t stream,
                       const std::vector<uint64_t>& rounds = {});
/// As `sample` counts work.
inline uint64_t work(const Plan& plan, uint64_t cells, uint64_t runs) {
  return cells * runs * plan.schedule.rounds.size();
}

/// 1 .. T - 2: after each answer of Algorithm 2.
std::vector<uint64_t> every_round();

/// Relative fitness of the start.
double at_start(const Banks& banks);

/// Median and quartiles after every round, from the start on.
Panel bands(const Banks& banks, const Samples& samples, const std::vector<double>& epsilons);

/// A sentence on which epsilons end worse than they began.
std::string compared_with_start(const Banks& banks, const Samples& samples,
                                const std::vector<double>& epsilons);

/// For each epsilon: the median at the end over the start, which must be below 1; and the median
/// itself, told beside.
std::vector<Measure> ends_below_start(const Banks& banks, const Samples& samples,
                                      const std::vector<double>& epsilons, uint64_t runs);
/// Medians at one epsilon over those at the next, which must be above 1.
std::vector<Measure> improves_with_budget(const Samples& samples,
                                          const std::vector<double>& epsilons, uint64_t runs);

/// "In average within 90 % of the fitness in the absence of privacy concern": f* / E f, which must
/// be 0.9 to 1. Beside it ψ, and the same at a third of the budget.
Result<std::vector<Measure>> within_ninety(const Study& study, const Banks& banks, const Plan& plan,
                                           double epsilon, uint64_t runs, uint64_t stream);

Figure sync_figure(const Study& study, std::string id, std::string item, std::string title,
                   std::string claim);

}  // namespace parley::reproduce::sync
