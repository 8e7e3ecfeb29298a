#include "parley/privacy/accounting/pld/normal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

namespace parley::privacy {
namespace normal_test {

/// The mass of (a, b] by Gauss's rule with three points on many short pieces.
long double mass(double a, double b) {
  const long double width = b - static_cast<long double>(a);
  const int pieces = std::max(40, static_cast<int>(width * (1 + std::fabs(a) + width) * 100));
  const long double h = width / pieces / 2;
  long double sum = 0;
  for (int i = 0; i < pieces; ++i) {
    const long double m = a + (2 * i + 1) * h, off = h * std::sqrt(.6L);
    const auto density = [](long double x) { return std::exp(-x * x / 2); };
    sum += h * (5 * density(m - off) + 8 * density(m) + 5 * density(m + off)) / 9;
  }
  return sum / std::sqrt(2 * std::numbers::pi_v<long double>);
}

// A privacy loss distribution adds 2^-45 of a bin's mass for what its two masses are off
// (loss_grid.h), so that each may be off by a quarter of that.
TEST(NormalMass, OfASliceIsRightHoweverThin) {
  for (double a = -36; a < 36; a += .317)
    for (double width = 1e-7; width < 6; width *= 1.9) {
      const long double truth = mass(a, a + width);
      if (truth < 1e-290L) continue;
      EXPECT_NEAR(double(normal_between(a, a + width) / truth), 1, 0x1p-47) << a << " " << width;
    }
}

TEST(NormalMass, OfATailIsNeverBelowTheTruth) {
  for (double x = -37; x < 37; x += .0173) {
    const long double truth = erfcl(-x / std::sqrt(2.0L)) / 2;
    EXPECT_GE(normal_below(x), truth) << x;
    EXPECT_LE(normal_below(x), truth * (1 + 0x1p-48L)) << x;
  }
}

}  // namespace normal_test
}  // namespace parley::privacy
