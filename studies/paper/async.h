// Farokhi et al., Algorithm 1, to the letter: equations (5) to (7), whoever's clock ticks is asked
// again and again, and every owner splits its budget by all T rounds though it answers T / N of
// them. In plain doubles, past gate and ledger, and NOT PRIVATE for the reasons of paper/sync.h.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "parley/learn/schedule/async_descent.h"
#include "parley/sim/simulate.h"
#include "studies/paper/not_private.h"

namespace parley::paper {

class Async {
 public:
  /// Laplace noise; everything else is refused, naming the key.
  static Result<Async> make(const sim::SimulateInput& input, int threads);

  const learn::AsyncRule& rule() const { return rule_; }
  double noise_scale(size_t owner) const { return owners_[owner].scale; }

  struct Ending {
    std::vector<double> model;
    std::vector<uint32_t> answers;  // of each owner
  };
  /// One run: after(round, output so far) for every round. The same seed and run give the same.
  using After = std::function<void(uint64_t round, std::span<const double> output)>;
  NotPrivate<Ending> run(uint64_t seed, uint64_t run, const After& after) const;

 private:
  struct Owner {
    std::string name;
    learn::Fitness mean_loss;
    double scale = 0;  // b
    double rate = 1;
  };
  explicit Async(learn::AsyncRule rule) : rule_(std::move(rule)) {}

  learn::AsyncRule rule_;
  std::vector<Owner> owners_{};
};

}  // namespace parley::paper
