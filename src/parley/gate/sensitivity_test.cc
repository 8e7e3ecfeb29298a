// The sensitivity that is charged against a search over neighbours: every corner of the features'
// and the target's bounds is replaced by every other, at every corner of the model's box. Bounds
// are not symmetric, so that one used in place of the other would show.
#include "parley/plan/sensitivity.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "parley/gate/clip_and_sum.h"
#include "parley/learn/kernel/kernel.h"

namespace parley::gate {
namespace sensitivity_test {

using learn::Lattice, data::Rows;
using Integers = std::vector<int64_t>;

constexpr size_t kColumns = 3;
using Point = std::array<double, kColumns>;
constexpr Point kLow = {-1, 0.5, -0.2}, kHigh = {3, 5, 0.1};

Point corner(size_t which, const Point& low, const Point& high) {
  Point point{};
  for (size_t j = 0; j < kColumns; ++j) point[j] = which >> j & 1 ? high[j] : low[j];
  return point;
}

template <class Norm>
double length(const Integers& a, const Integers& b) {
  double sum = 0;
  for (size_t j = 0; j < a.size(); ++j) {
    const double moved = double(a[j] - b[j]);
    sum += std::is_same_v<Norm, L1> ? std::fabs(moved) : moved * moved;
  }
  return std::is_same_v<Norm, L1> ? sum : std::sqrt(sum);
}

/// The sums of all data sets of one fixed record and one at a corner.
template <class Norm>
std::vector<Integers> corner_sums(const learn::Losses& loss, const Lattice& lattice,
                                  const Point& theta, const std::array<double, 2>& labels) {
  std::vector<Integers> sums;
  for (const double label : labels)
    for (size_t which = 0; which < 8; ++which) {
      Rows rows(kColumns);
      rows.add(Point{1, 2, 0}, labels[0]);
      rows.add(corner(which, kLow, kHigh), label);
      sums.push_back(learn::lattice_sum<Norm>(loss, lattice, theta, rows, 0, rows.size()));
    }
  return sums;
}

/// The largest part of the sensitivity that any neighbours use; `clip` far below or above what
/// gradients reach.
template <class Norm>
double largest_part(const learn::Losses& loss, double clip, const std::array<double, 2>& labels) {
  const Lattice lattice = *Lattice::make(clip, 24, kColumns);
  const double allowed = plan::sensitivity<Norm>(lattice, 1);
  double largest = 0;
  for (size_t which = 0; which < 8; ++which) {
    const Point theta = corner(which, {-2, -2, -2}, {2, 2, 2});
    const auto sums = corner_sums<Norm>(loss, lattice, theta, labels);
    for (const Integers& a : sums)
      for (const Integers& b : sums) largest = std::max(largest, length<Norm>(a, b) / allowed);
  }
  return largest;
}

template <class Norm>
void search(const learn::Losses& loss, const std::array<double, 2>& labels) {
  for (double clip : {1e-3, .7, 3., 40., 1e4}) {
    const double part = largest_part<Norm>(loss, clip, labels);
    EXPECT_LE(part, 1) << Norm::kName << " " << learn::name_of(loss) << " " << clip;
    if (clip > .7) continue;
    EXPECT_GT(part, .9) << "the search has lost its power: " << learn::name_of(loss);
  }
}

TEST(Sensitivity, NoNeighboursAtAnyCornersAreFurtherApart) {
  search<L1>(learn::Squared{}, {-.5, 10});
  search<L2>(learn::Squared{}, {-.5, 10});
  search<L1>(learn::Hinge{}, {-1, 1});
  search<L2>(learn::Hinge{}, {-1, 1});
  search<L1>(learn::Logistic{}, {-1, 1});
  search<L2>(learn::Logistic{}, {-1, 1});
}

}  // namespace sensitivity_test
}  // namespace parley::gate
