// Independent Poisson clocks, one per owner: gaps are exponential, so that whoever ticks next is
// owner i with probability rate_i / (sum of rates), whatever came before.
#pragma once

#include <cstdint>
#include <vector>

#include "parley/base/math/seeded_random.h"

namespace parley::sim {

class PoissonClocks {
 public:
  /// An owner's ticks depend on seed, run, its place and its rate, and on nothing else.
  PoissonClocks(uint64_t seed, uint64_t run) : key_(key_of(seed, run)) {}

  void add(double rate) { clocks_.push_back({SeededRandom(key_, clocks_.size()), rate}); }
  /// The time from one tick of this owner to its next; a rate of 1 means 1 on average.
  double gap(size_t owner);

 private:
  struct Clock {
    SeededRandom random;
    double rate;
  };
  static uint64_t key_of(uint64_t seed, uint64_t run);

  uint64_t key_;
  std::vector<Clock> clocks_{};
};

}  // namespace parley::sim
