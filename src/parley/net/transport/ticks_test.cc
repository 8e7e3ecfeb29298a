#include "parley/net/transport/ticks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace parley::net {
namespace ticks_test {

// Fresh entropy every time: by Massart's inequality fails with probability 1e-9 on a right clock.
TEST(Ticks, GapsAreExponentialWithTheRateThatWasDeclared) {
  constexpr size_t kTicks = 20'000;
  constexpr double kRate = 40;
  PoissonTicks ticks(kRate);
  std::vector<double> gaps;
  for (size_t i = 0; i < kTicks; ++i) {
    const auto before = ticks.next();
    ticks.restart(before);
    gaps.push_back(std::chrono::duration<double>(ticks.next() - before).count());
  }
  std::sort(gaps.begin(), gaps.end());
  const auto distance = [&](double rate) {
    double largest = 0;
    for (size_t k = 0; k < kTicks; ++k) {
      const double p = 1 - std::exp(-rate * gaps[k]);
      largest = std::fmax(largest, std::fmax(p - double(k) / kTicks, double(k + 1) / kTicks - p));
    }
    return largest;
  };
  const double bound = std::sqrt(std::log(2 / 1e-9) / (2 * kTicks));
  EXPECT_LT(distance(kRate), bound);
  EXPECT_GT(distance(1.25 * kRate), bound) << "the test has lost its power";
}

TEST(Ticks, OfManyMissedOnesNoneIsMadeUpFor) {
  PoissonTicks ticks(1e6);
  const auto later = ticks.next() + std::chrono::hours(1);
  ticks.restart(later);
  EXPECT_GT(ticks.next(), later);
}

}  // namespace ticks_test
}  // namespace parley::net
