#include "parley/learn/solver/symmetric.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "parley/base/bytes.h"
#include "parley/base/math/seeded_random.h"
#include "parley/learn/objective.h"
#include "parley/learn/pilot/whitened.h"
#include "parley/learn/statistics.h"

namespace parley::learn {
namespace symmetric_test {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The mean of z z' over `rows` random z, whose columns are of unlike sizes.
std::vector<double> moments(size_t p, size_t rows) {
  SeededRandom random(29, p);
  std::vector<double> z(rows * p);
  for (size_t i = 0; i < z.size(); ++i) z[i] = (2 * random.uniform() - 1) * double(1 + i % p % 3);
  return sum_of_squares(std::vector<double>(rows, 1 / double(rows)), z);
}

double largest(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::fmax(most, std::fabs(a[i] - b[i]));
  return most;
}

std::vector<double> identity(size_t p) {
  std::vector<double> matrix(p * p);
  for (size_t j = 0; j < p; ++j) matrix[j * (p + 1)] = 1;
  return matrix;
}

std::vector<double> transposed(const std::vector<double>& matrix, size_t p) {
  std::vector<double> found(p * p);
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j < p; ++j) found[j * p + i] = matrix[i * p + j];
  return found;
}

/// That values and vectors are those of the matrix, to rounding at its scale.
void expect_spectrum(const std::vector<double>& matrix, size_t p, double scale) {
  const Spectrum found = spectrum(matrix, p);
  const double off = 1e-14 * double(p);
  EXPECT_TRUE(std::is_sorted(found.values.begin(), found.values.end()));
  EXPECT_LE(largest(sum_of_squares(found.values, found.vectors), matrix), off * scale) << p;
  EXPECT_LE(largest(product(found.vectors, transposed(found.vectors, p), p), identity(p)), off);
  const Eigen::SelfAdjointEigenSolver<Matrix> other(
      Matrix(Eigen::Map<const Matrix>(matrix.data(), Eigen::Index(p), Eigen::Index(p))));
  const std::vector<double> values(other.eigenvalues().begin(), other.eigenvalues().end());
  EXPECT_LE(largest(found.values, values), off * scale) << p;
  EXPECT_LE(largest(eigenvalues(matrix, p), values), off * scale) << p;
}

TEST(Spectrum, OfRandomMomentsIsThatOfAnotherLibrary) {
  for (size_t p : {1, 2, 3, 4, 5, 17, 32, 33, 100})
    expect_spectrum(moments(p, 2 * p), p, double(p));
}

TEST(Spectrum, OfWhatIsSingularOrHasEqualValues) {
  expect_spectrum(std::vector<double>(25), 5, 1);
  expect_spectrum(identity(6), 6, 1);
  expect_spectrum(std::vector<double>(49, 3), 7, 21);
  expect_spectrum(moments(20, 4), 20, 20);
  expect_spectrum({0, 1, 1, 0}, 2, 1);
  expect_spectrum({2, 0, 0, 0, -3, 0, 0, 0, 1}, 3, 3);
}

TEST(Spectrum, IsScaledWithTheMatrix) {
  for (double scale : {1e-300, 1e-20, 1e20, 1e300}) {
    std::vector<double> matrix = moments(9, 30);
    for (double& value : matrix) value *= scale;
    expect_spectrum(matrix, 9, 9 * scale);
  }
}

TEST(Spectrum, EndsAlsoWithoutNumbers) {
  const double nan = std::nan("");
  EXPECT_TRUE(std::isnan(spectrum(std::vector<double>(9, nan), 3).values[0]));
  spectrum(std::vector<double>{HUGE_VAL, 1, 1, 2}, 2);
}

TEST(Cholesky, SolvesAndInverts) {
  for (size_t p : {1, 2, 3, 5, 31, 64, 101}) {
    const std::vector<double> matrix = moments(p, 3 * p);
    std::vector<double> x(p);
    for (size_t j = 0; j < p; ++j) x[j] = double(j % 5) - 2;
    const auto factor = Cholesky::of(matrix, p);
    ASSERT_TRUE(factor);
    EXPECT_LE(largest(factor->solve(times(matrix, x)), x), 1e-11) << p;
    EXPECT_LE(largest(product(matrix, factor->inverse(), p), identity(p)), 1e-11) << p;
  }
}

TEST(Cholesky, RefusesWhatIsNotPositiveDefinite) {
  EXPECT_FALSE(Cholesky::of(std::vector<double>{1, 2, 2, 1}, 2));
  EXPECT_FALSE(Cholesky::of(std::vector<double>{0}, 1));
  EXPECT_FALSE(Cholesky::of(std::vector<double>{std::nan("")}, 1));
  EXPECT_FALSE(Cholesky::of(std::vector<double>{HUGE_VAL}, 1));
}

TEST(Product, IsTheProductOfUnlikeShapes) {
  EXPECT_EQ(product(std::vector<double>{1, 2, 3, 4, 5, 6}, std::vector<double>{1, 0, 1}, 3),
            (std::vector<double>{4, 10}));
  EXPECT_EQ(product(std::vector<double>{1, 2}, std::vector<double>{3, 4}, 1),
            (std::vector<double>{3, 4, 6, 8}));
  EXPECT_EQ(times(std::vector<double>{1, 2, 3, 4, 5, 6}, std::vector<double>{1, 0, 1}),
            (std::vector<double>{4, 10}));
}

/// All that a replayed model is made of.
std::string bits_of_everything() {
  TupleBytes bits;
  const auto add = [&](const std::vector<double>& values) {
    for (double value : values) bits.add(value);
  };
  for (size_t p : {1, 7, 60, 140}) {
    const std::vector<double> matrix = moments(p, 2 * p);
    std::vector<double> triangle;
    for (size_t j = 0; j < p; ++j)
      for (size_t k = j; k < p; ++k) triangle.push_back(matrix[j * p + k]);
    for (size_t j = 0; j < p; ++j) triangle.push_back(double(j % 3) - 1);
    add(gram_inverse(triangle, p, 2, .001, .05));
    add(moments_minimum(triangle, p, .001, .05, 100));
    add(moments_minimum(triangle, p, .001, .05, .25));
    add(*inverse(matrix, p));
    add(floored_inverse(matrix, p, .1));
    bits.add(largest_eigenvalue(matrix, p));
    const Whitened whitened(matrix, p, p - 1);
    add(whitened.point(times(matrix, std::vector<double>(p, 1))));
    bits.add(whitened.length(std::vector<double>(p, .5)));
  }
  return to_hex(bits.sha256());
}

/// So that a change of one bit anywhere is noticed: transcripts rest on these.
TEST(ReplayedAlgebra, HasTheSameBitsOnEveryMachine) {
  EXPECT_EQ(bits_of_everything(),
            "4f4610bb2106ca04630bf3718119930c9140e1c85b75973de4904d9d65c6cc2f");
}

/// Eigen cuts products into blocks that fit the caches it finds, and sums block by block. Two
/// processors of one kind with other caches would give models that differ.
TEST(ReplayedAlgebra, DoesNotDependOnTheSizesOfCaches) {
  const auto l1 = Eigen::l1CacheSize(), l2 = Eigen::l2CacheSize(), l3 = Eigen::l3CacheSize();
  const std::string before = bits_of_everything();
  for (std::ptrdiff_t small : {16 << 10, 32 << 10, 48 << 10}) {
    Eigen::setCpuCacheSizes(small, 16 * small, 64 * small);
    EXPECT_EQ(bits_of_everything(), before) << small;
  }
  Eigen::setCpuCacheSizes(l1, l2, l3);
}

}  // namespace symmetric_test
}  // namespace parley::learn
