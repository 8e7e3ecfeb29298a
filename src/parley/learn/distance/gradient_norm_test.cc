#include "parley/learn/distance/gradient_norm.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "parley/learn/kernel/kernel.h"
#include "parley/learn/pilot/whitened.h"

namespace parley::learn {
namespace gradient_norm_test {

constexpr size_t kColumns = 3;
const std::vector<double> kHessian = {.5, .1, .05, .1, .6, 0, .05, 0, .02};
const std::vector<double> kTheta = {.8, -.4, .3};

/// All corners of bounds that are not symmetric, with either class, and one record in the middle.
std::vector<std::pair<std::array<double, kColumns>, double>> records() {
  std::vector<std::pair<std::array<double, kColumns>, double>> found = {{{.1, .2, 0}, 1}};
  for (size_t which = 0; which < 8; ++which)
    for (double label : {-1., 1.})
      found.push_back({{which & 1 ? 3. : -1., which & 2 ? 5. : .5, which & 4 ? .1 : -.2}, label});
  return found;
}

/// The lattice gradient of each of them, in the metric of the Hessian.
std::vector<std::vector<int64_t>> gradients(const Lattice& lattice) {
  const Whitened metric(kHessian, kColumns, 2);
  auto rows = std::make_shared<data::Rows>(kColumns);
  for (const auto& [z, y] : records()) rows->add(z, y);
  const auto there = std::get<0>(metric.rows(std::shared_ptr<const data::Rows>(rows)));
  std::vector<std::vector<int64_t>> found;
  for (size_t i = 0; i < rows->size(); ++i)
    found.push_back(lattice_sum<L2>(Logistic{}, lattice, metric.point(kTheta), *there, i, i + 1));
  return found;
}

struct Search {
  const GradientNorm norm;
  const std::vector<std::vector<int64_t>> each;

  std::array<int64_t, 2> of(const std::array<size_t, 3>& members) const {
    std::vector<int64_t> sum(kColumns);
    for (size_t member : members)
      for (size_t j = 0; j < kColumns; ++j) sum[j] += each[member][j];
    return norm.of(sum);
  }
  /// The furthest that other values in the last `records` of three move the pair, over all data
  /// sets.
  double furthest(size_t records) const {
    double most = 0;
    const size_t n = each.size();
    for (size_t a = 0; a < n; ++a)
      for (size_t b = 0; b < n; ++b)
        for (size_t c = 0; c < n; ++c)
          for (size_t d = 0; d < n; ++d)
            for (size_t e = 0; e < (records == 2 ? n : 1); ++e)
              most = std::max(most, apart(of({a, b, c}), of({a, records == 2 ? e : b, d})));
    return most;
  }
  static double apart(const std::array<int64_t, 2>& one, const std::array<int64_t, 2>& other) {
    return std::hypot(one[0] - other[0], one[1] - other[1]);
  }
};

/// The sensitivity of theory (W6): every data set of three such records, every
/// replacement.
TEST(GradientNorm, NoReplacementMovesItFurtherThanItsSensitivity) {
  for (const double clip : {.3, 2., 50.})
    for (const auto& [weight, intercept] : {std::pair(3., true), {1.3, true}, {3., false}}) {
      const auto lattice = *Lattice::make(clip, 20, kColumns);
      const Search search{{lattice, 3, weight, intercept}, gradients(lattice)};
      const double one = search.furthest(1) / search.norm.sensitivity(1);
      EXPECT_LE(one, 1) << clip << " " << weight;
      const double two = search.furthest(2) / search.norm.sensitivity(2);
      EXPECT_LE(two, 1) << clip << " " << weight;
      // Where the clip decides, three records that cancel against three that do not use it up.
      EXPECT_GT(one, clip == .3 ? .9 : 0) << "the search has lost its power";
      EXPECT_LE(search.norm.sensitivity(1) * lattice.gamma(), 2 * clip * weight / 3 * (1 + 1e-4));
    }
}

TEST(GradientNorm, RoundsTheLengthOfLargeSums) {
  const auto lattice = *Lattice::make(1, 24, 2);
  using Pair = std::array<int64_t, 2>;
  EXPECT_EQ((GradientNorm{lattice, 1, 1}.of(std::vector<int64_t>{3, -4})), (Pair{5, 0}));
  EXPECT_EQ((GradientNorm{lattice, 10, 5}.of(std::vector<int64_t>{30, -40})), (Pair{25, 0}));
  EXPECT_EQ((GradientNorm{lattice, 10, 5, true}.of(std::vector<int64_t>{-90, 30, -40})),
            (Pair{25, 45}));
  const int64_t far = int64_t{1} << 60;
  EXPECT_EQ((GradientNorm{lattice, 1, 1}.of(std::vector<int64_t>{far, 0})), (Pair{far, 0}));
}

TEST(Whitened, RecordsKeepTheirScoresAndLengthsWhereverTheyLie) {
  const Whitened metric(kHessian, kColumns);
  auto dense = std::make_shared<data::Rows>(kColumns);
  auto sparse = std::make_shared<data::SparseRows>(kColumns);
  for (int times = 0; times < 3; ++times)
    for (const auto& [z, y] : records()) {
      dense->add(z, y);
      sparse->add(std::vector<uint32_t>{0, 1, 2}, std::vector<double>(z.begin(), z.end()), y);
    }
  const auto here = std::get<0>(metric.rows(std::shared_ptr<const data::Rows>(dense)));
  const auto same = std::get<0>(metric.rows(std::shared_ptr<const data::SparseRows>(sparse)));
  const auto lengths = metric.lengths(*dense);
  const auto scores = scores_of(*dense, kTheta), there = scores_of(*here, metric.point(kTheta));
  const size_t once = records().size();
  for (size_t i = 0; i < dense->size(); ++i) {
    double square = 0;
    for (size_t j = 0; j < kColumns; ++j) {
      square += here->row(i)[j] * here->row(i)[j];
      EXPECT_EQ(here->row(i)[j], here->row(i % once)[j]);
      EXPECT_EQ(here->row(i)[j], same->row(i)[j]);
    }
    EXPECT_NEAR(there[i], scores[i], 1e-12);
    EXPECT_NEAR(std::sqrt(square), lengths[i], 1e-12);
    EXPECT_EQ(here->label(i), dense->label(i));
  }
}

/// The first coordinate of a gradient is then the intercept's: its number there over the root of
/// the curvature. Lengths, scores and points stay.
TEST(Whitened, TurnsTheInterceptToTheFirstCoordinate) {
  const Whitened plain(kHessian, kColumns), turned(kHessian, kColumns, 2);
  auto rows = std::make_shared<data::Rows>(kColumns);
  for (const auto& [z, y] : records()) rows->add(z, y);
  const auto there = std::get<0>(turned.rows(std::shared_ptr<const data::Rows>(rows)));
  const auto lengths = plain.lengths(*rows), same = turned.lengths(*rows);
  const auto scores = scores_of(*rows, kTheta), kept = scores_of(*there, turned.point(kTheta));
  for (size_t i = 0; i < rows->size(); ++i) {
    EXPECT_NEAR(there->row(i)[0], rows->row(i)[2] / std::sqrt(kHessian[8]), 1e-12);
    EXPECT_NEAR(lengths[i], same[i], 1e-11);
    EXPECT_NEAR(scores[i], kept[i], 1e-11);
  }
}

/// Two columns that are always equal: the direction in which they differ has no curvature.
TEST(Whitened, DirectionsWithoutCurvatureAreLeftOut) {
  const Whitened metric(std::vector<double>{1, 1, 1, 1}, 2);
  const auto point = metric.point(std::vector<double>{.5, .25});
  auto rows = std::make_shared<data::Rows>(2);
  rows->add(std::array{1., 1.}, 1);
  rows->add(std::array{1., -1.}, 1);
  const auto there = std::get<0>(metric.rows(std::shared_ptr<const data::Rows>(rows)));
  const auto scores = scores_of(*there, point);
  EXPECT_NEAR(scores[0], .75, 1e-12);
  EXPECT_NEAR(scores[1], 0, 1e-12);
}

}  // namespace gradient_norm_test
}  // namespace parley::learn
