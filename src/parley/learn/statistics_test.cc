#include "parley/learn/statistics.h"

#include <gtest/gtest.h>

#include "parley/base/math/noise_floor.h"
#include "parley/learn/fitness.h"
#include "support/tiny.h"

namespace parley::learn {
namespace statistics_test {

/// The exact moments of rows, as moments_minimum takes them.
std::vector<double> moments_of(const data::Rows& rows) {
  Moments found(rows.columns());
  found.add(rows, 1);
  std::vector<double> moments;
  for (size_t j = 0; j < rows.columns(); ++j)
    for (size_t k = j; k < rows.columns(); ++k) moments.push_back(found.product(j, k));
  for (size_t j = 0; j < rows.columns(); ++j) moments.push_back(found.with_label(j));
  return moments;
}

TEST(MomentsMinimum, OfExactMomentsIsTheOptimum) {
  const data::Rows rows = test::tiny_owner(1);
  for (double l2 : {0.0, .3})
    for (double box : {10.0, .2}) {
      Fitness fitness(Squared{}, 2, l2);
      fitness.add(rows);
      const auto best = fitness.minimum(box).theta;
      const auto found = moments_minimum(moments_of(rows), 2, l2, 1e-9, box);
      for (size_t j = 0; j < 2; ++j) EXPECT_NEAR(found[j], best[j], 1e-9) << l2 << " " << box;
    }
}

// Noise can turn an eigenvalue negative: the minimum of such a form would be a corner of the box.
TEST(MomentsMinimum, DoesNotRunAwayAlongADirectionThatNoiseMadeNegative) {
  const double moments[] = {1, 0, -.01, .5, .1};
  const auto found = moments_minimum(moments, 2, 0, .5, 10);
  EXPECT_NEAR(found[0], .5, 1e-12);
  EXPECT_NEAR(found[1], .1 / .5, 1e-12);
}

TEST(NoiseFloor, IsTheSpectralNormOfASymmetricMatrixOfNoise) {
  EXPECT_DOUBLE_EQ(noise_floor(3, .5, 100), 30);
}

}  // namespace statistics_test
}  // namespace parley::learn
