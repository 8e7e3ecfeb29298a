// Sums with a known bound for tests of what comes after the gate. Only tests define the friend that
// privacy/flow.h names, so product code cannot make a Bounded in this way.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "parley/privacy/flow.h"

namespace parley::privacy {

struct BoundedForTest {
  template <class Norm>
  static Bounded<Norm> make(std::vector<int64_t> sum, double sensitivity) {
    return Bounded<Norm>(std::move(sum), sensitivity);
  }
  template <class Norm>
  static std::vector<int64_t> values(const Bounded<Norm>& bounded) {
    return bounded.sum_;
  }
};

}  // namespace parley::privacy

namespace parley {

inline privacy::Bounded<L1> bounded_for_test(std::vector<int64_t> sum, double sensitivity) {
  return privacy::BoundedForTest::make<L1>(std::move(sum), sensitivity);
}

}  // namespace parley
