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

struct MaskForTest {
  static Mask make(std::vector<uint64_t> words) { return Mask(std::move(words)); }
  /// What the ledger does with it, but for noise and payment.
  static std::vector<uint64_t> on(const Mask& mask, std::vector<uint64_t> vector) {
    for (size_t i = 0; i < vector.size(); ++i) vector[i] += mask.words_.at(i);
    return vector;
  }
};

}  // namespace parley::privacy

namespace parley {

inline privacy::Bounded<L1> bounded_for_test(std::vector<int64_t> sum, double sensitivity) {
  return privacy::BoundedForTest::make<L1>(std::move(sum), sensitivity);
}

}  // namespace parley
