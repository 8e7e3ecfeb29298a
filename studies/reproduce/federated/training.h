// What the figures of the federated paper are drawn from: owners that take K steps of their own
// between aggregations, with noise on the sum. Logistic regression on records of norm 1 at most.
#pragma once

#include <functional>
#include <vector>

#include "parley/data/any_rows.h"
#include "parley/learn/fitness.h"
#include "studies/paper/federated.h"
#include "studies/reproduce/data/columns_apart.h"
#include "studies/reproduce/estimate.h"

namespace parley::reproduce::federated {

inline constexpr double kDelta = 1e-5;

/// How records come to owners.
enum class Cut { kAlike, kMild, kSorted };
const char* name_of(Cut cut);

/// Equal owners and the objective of all their records.
class Owners {
 public:
  Owners(std::vector<data::AnyRows> rows, double l2);

  size_t count() const { return rows_.size(); }
  size_t columns() const { return data::columns_of(rows_[0]); }
  size_t rows_each() const { return data::size_of(rows_[0]); }
  double l2() const { return l2_; }
  const data::AnyRows& rows(size_t owner) const { return rows_[owner]; }
  const learn::Optimum& optimum() const { return optimum_; }
  double excess(std::span<const double> theta) const { return all_.at(theta) - optimum_.fitness; }
  /// grad J_j of the paper, the penalty inside.
  std::vector<double> gradient(size_t owner, std::span<const double> theta) const {
    return own_[owner].gradient(theta);
  }

 private:
  std::vector<data::AnyRows> rows_;
  double l2_;
  learn::Fitness all_;
  std::vector<learn::Fitness> own_;
  learn::Optimum optimum_;
};

/// a9a or its stand-in over so many owners; attributes scaled so that every record has norm 1.
Result<Owners> census_owners(const Study& study, Cut cut, size_t owners, double l2);

struct Plan {
  int64_t steps = 1, total = 200;                                     // K, T
  std::function<double(int64_t)> step = [](int64_t) { return 3.5; };  // by t = 1, 2, ...
  /// Of the noise that the sum gets at every aggregation, per coordinate.
  double deviation = 0;
  bool average = true;  // of the last quarter of the rounds; else the last
};

/// The noise that makes the released sums (epsilon, kDelta)-private, by the sensitivity of K steps
/// of the same length.
Result<double> deviation_for(const Owners& owners, const Plan& plan, double epsilon);
/// For the same sensitivity by the paper's equation (2), once for the sum.
Result<double> deviation_as_printed(const Owners& owners, const Plan& plan, double epsilon);

std::vector<double> train(const Owners& owners, const Plan& plan, uint64_t seed, uint64_t run);

/// The mean excess objective over runs.
Estimate mean_excess(const Owners& owners, const Plan& plan, uint64_t runs, const Study& study);

/// Algorithm 1 as printed: every party adds the noise of equation (2) to every step.
paper::FederatedRule printed_rule(const Plan& plan, double epsilon);
/// Its mean excess objective over runs. Without noise where epsilon is infinite.
Estimate excess_as_printed(const Owners& owners, const paper::FederatedRule& rule, uint64_t runs,
                           const Study& study);

Figure federated_figure(const Study& study, std::string id, std::string item, std::string title,
                        std::string claim);

}  // namespace parley::reproduce::federated
