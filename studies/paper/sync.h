// Wu et al., Algorithms 1 and 2, to the letter, to reproduce what was published: real-valued
// Laplace noise of scale b = 2 Xi T kappa / (n epsilon), where Xi is believed and not enforced, and
// a budget split by T though T - 1 questions are asked. In plain doubles, past gate and ledger, and
// NOT PRIVATE, whatever epsilon says: a record may move a gradient by more than Xi, and the noise
// has floating-point holes (theory (R1), (R6)).
//
// owner_learner = "exact" is their section V: an owner that learns sets its own epsilon to infinity
// "as the other data owners cannot access the trained model or the query responses". They see the
// questions, though, and get its exact gradient from two of them (2-j): sync_test.cc does.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "parley/base/result.h"
#include "parley/learn/schedule/schedule.h"
#include "parley/sim/simulate.h"
#include "studies/paper/not_private.h"

namespace parley::paper {

class Sync {
 public:
  /// Rules algorithm1 and algorithm2 with Laplace noise; others are refused, naming the key.
  static Result<Sync> make(const sim::SimulateInput& input, int threads);

  /// T - 1 for Algorithm 1. Algorithm 2 asks as many and throws the last answer away; here that one
  /// is not computed, which changes nothing but time.
  uint32_t answers() const { return static_cast<uint32_t>(schedule_.rounds.size()); }
  double weight(size_t owner) const { return owners_[owner].weight; }
  double noise_scale(size_t owner) const { return owners_[owner].scale; }

  /// What the owners see of a round, if the learner is one of them: the question, and each its own
  /// answer.
  struct Seen {
    std::vector<double> theta;
    std::vector<std::vector<double>> answers;
  };
  /// One run: after(round, output so far) for every round. The same seed and run give the same.
  using After = std::function<void(size_t round, std::span<const double> output)>;
  using Watch = std::function<void(const Seen&)>;
  NotPrivate<std::vector<double>> run(
      uint64_t seed, uint64_t run, const After& after,
      const Watch& watch = [](const Seen&) {}) const;

 private:
  struct Owner {
    std::string name;
    learn::Fitness mean_loss;
    double weight = 0;
    double scale = 0;  // b
  };
  Sync(learn::Schedule schedule, double box, double l2)
      : schedule_(std::move(schedule)), box_(box), l2_(l2) {}

  learn::Schedule schedule_;
  double box_, l2_;
  std::vector<Owner> owners_{};
};

}  // namespace parley::paper
