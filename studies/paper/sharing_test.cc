// The three attacks on the vertical paper's private version: each works at any noise.
#include "studies/paper/sharing.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "support/entropy.h"

namespace parley::paper {
namespace sharing_test {

using data::AnyRows, data::Rows;
using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr size_t kRecords = 300, kColumns = 8;

/// Zeros and ones, as one-hot columns are.
MatrixXd binary(uint64_t seed) {
  test::SeededEntropy entropy(seed, "binary");
  MatrixXd data(kRecords, kColumns);
  for (double& value : data.reshaped()) value = double(entropy.word() % 3 == 0);
  return data;
}

AnyRows rows_of(const MatrixXd& data) {
  auto rows = std::make_shared<Rows>(size_t(data.cols()));
  for (Index i = 0; i < data.rows(); ++i) {
    const VectorXd row = data.row(i);
    rows->add({row.data(), size_t(row.size())}, 0);
  }
  return std::shared_ptr<const Rows>(rows);
}

std::vector<double> labels() {
  test::SeededEntropy entropy(3, "labels");
  std::vector<double> y(kRecords);
  for (double& label : y) label = entropy.word() % 2 ? 1 : -1;
  return y;
}

NoisySharing run(const MatrixXd& attacked, double sigma, int rounds, uint64_t seed) {
  test::SeededEntropy entropy(seed, "noise");
  const std::vector<data::AnyRows> columns = {rows_of(attacked), rows_of(binary(2))};
  return share_with_noise(columns, ColumnNoises(columns, 1), labels(),
                          {.rho = .3, .scaling = learn::Scaling::kPaper, .rounds_max = rounds},
                          sigma, entropy)
      ->value;
}

/// How much of a message lies outside the space of these columns.
double outside(const MatrixXd& columns, const std::vector<double>& message) {
  const MatrixXd basis =
      columns.householderQr().householderQ() * MatrixXd::Identity(columns.rows(), columns.cols());
  const Eigen::Map<const VectorXd> sent(message.data(), Index(message.size()));
  return (sent - basis * (basis.transpose() * sent)).norm() / sent.norm();
}

/// One message tells which of two neighbouring data sets was used, always.
TEST(PaperSharing, AMessageLiesInTheSpaceOfItsColumns) {
  const MatrixXd first = binary(1);
  MatrixXd second = first;
  second.row(5) = VectorXd::Ones(kColumns) - first.row(5).transpose();
  for (const double sigma : {1., 1e3, 1e6})
    for (uint64_t seed = 0; seed < 50; ++seed) {
      EXPECT_LT(outside(first, run(first, sigma, 1, seed).shares[0][0]), 1e-11);
      EXPECT_GT(outside(first, run(second, sigma, 1, seed).shares[0][0]), 1e-7);
    }
}

/// As many messages as columns span their space, in which few vectors hold zeros and ones only.
TEST(PaperSharing, MessagesGiveBinaryColumnsExactly) {
  const MatrixXd data = binary(1);
  const NoisySharing seen = run(data, 1e3, kColumns, 7);
  MatrixXd messages(kRecords, kColumns);
  for (size_t t = 0; t < kColumns; ++t)
    messages.col(Index(t)) = Eigen::Map<const VectorXd>(seen.shares[t][0].data(), Index(kRecords));
  const MatrixXd space = messages.jacobiSvd(Eigen::ComputeThinU).matrixU();
  // Rows that determine a vector of the space, and the map from them to all.
  const Eigen::ColPivHouseholderQR<MatrixXd> pivots(space.transpose());
  MatrixXd chosen(kColumns, kColumns);
  for (Index k = 0; k < Index(kColumns); ++k)
    chosen.row(k) = space.row(pivots.colsPermutation().indices()[k]);
  const MatrixXd all = space * chosen.inverse();
  std::vector<VectorXd> found;
  for (unsigned bits = 1; bits < 1u << kColumns; ++bits) {
    VectorXd guess(kColumns);
    for (size_t k = 0; k < kColumns; ++k) guess[Index(k)] = bits >> k & 1;
    const VectorXd whole = all * guess, rounded = whole.array().round();
    const bool zeros_and_ones = rounded.minCoeff() >= 0 && rounded.maxCoeff() <= 1;
    if (zeros_and_ones && (whole - rounded).lpNorm<Eigen::Infinity>() < 1e-5)
      found.push_back(rounded);
  }
  EXPECT_LT(found.size(), 30u);
  for (Index j = 0; j < Index(kColumns); ++j)
    EXPECT_TRUE(std::any_of(found.begin(), found.end(),
                            [&](const VectorXd& each) { return each == data.col(j); }))
        << "column " << j;
}

/// y is the loss's slope, whose sign is the label's. Noise that throws a score far to the right
/// side leaves a slope below rounding; all others tell.
TEST(PaperSharing, TheBroadcastGivesLabels) {
  const auto truth = labels();
  for (const double sigma : {0., 1., 1e3}) {
    const NoisySharing seen = run(binary(1), sigma, 1, 9);
    size_t told = 0;
    for (size_t i = 0; i < kRecords; ++i) {
      if (std::fabs(seen.y[i]) < 1e-9) continue;
      EXPECT_EQ(seen.y[i] < 0 ? 1 : -1, truth[i]);
      ++told;
    }
    EXPECT_GE(told, sigma < 1e3 ? kRecords : kRecords / 3);
  }
}

/// The paper's own split has columns that depend on each other: there its noise does not exist, and
/// with that of the others the iteration still runs.
TEST(PaperSharing, DependentColumnsAreRun) {
  MatrixXd data = binary(1);
  data.col(7) = data.col(0) + data.col(1);
  const NoisySharing seen = run(data, 1, 3, 10);
  EXPECT_EQ(seen.shares.size(), 3u);
  for (const double value : seen.shares[2][0]) EXPECT_TRUE(std::isfinite(value));
}

/// |D x|^2 / sigma^2 is then chi square with as many degrees as independent columns: its mean over
/// 2,000 draws is off by 0.5, six standard errors, less than once in 1e8.
TEST(PaperSharing, DependentColumnsSendTheProjectedNoise) {
  MatrixXd data = binary(1);
  data.col(7) = data.col(0) + data.col(1);
  data.col(6).setZero();
  const ColumnNoises noises({rows_of(data)}, 1);
  test::SeededEntropy entropy(4, "noise");
  constexpr int kDraws = 2000;
  double squares = 0;
  for (int k = 0; k < kDraws; ++k) {
    const std::vector<double> x = noises.draw(0, 3, entropy);
    squares += (data * Eigen::Map<const VectorXd>(x.data(), kColumns)).squaredNorm() / 9;
  }
  EXPECT_NEAR(squares / kDraws, 6, .5);
}

}  // namespace sharing_test
}  // namespace parley::paper
