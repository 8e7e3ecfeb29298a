// NOT PRIVATE for any amount of noise: the vertical paper's mechanism. A party sends D (x + xi),
// xi normal with covariance sigma^2 (D^T D)^-1, so that all of the message lies in the column space
// of its data D. Under a neighbour D' it lies in another one: what is left of a message outside the
// column space of D tells them apart with certainty (theory (R11)).
#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "parley/base/math/eigen.h"
#include "studies/planted/planted.h"

namespace parley::planted {
namespace {

using audit::World;

using Eigen::MatrixXd, Eigen::VectorXd;

constexpr Eigen::Index kRecords = 40, kFeatures = 6;
constexpr double kRidge = 1, kStep = .3;  // lambda and rho

double uniform(Entropy& entropy) { return double((entropy.word() >> 11) + 1) * 0x1p-53; }

double normal(Entropy& entropy) {
  return std::sqrt(-2 * std::log(uniform(entropy))) *
         std::cos(2 * std::numbers::pi * uniform(entropy));
}

/// 0/1 features that repeat with different periods, each row of length one.
MatrixXd binary_rows() {
  MatrixXd data(kRecords, kFeatures);
  for (Eigen::Index i = 0; i < kRecords; ++i)
    for (Eigen::Index j = 0; j < kFeatures; ++j) data(i, j) = i % (j + 2) == 0 || i % 6 == j;
  return data.rowwise().normalized();
}

/// One party in one world: what it would send, and the root of its noise.
struct Party {
  VectorXd message;
  MatrixXd noise;  // D L^-T, D^T D = L L^T

  explicit Party(const MatrixXd& data) {
    const MatrixXd gram = data.transpose() * data;
    VectorXd labels(kRecords);
    for (Eigen::Index i = 0; i < kRecords; ++i) labels[i] = i % 3 == 0 ? 1 : -1;
    const MatrixXd ridge = kRidge * MatrixXd::Identity(kFeatures, kFeatures);
    message = data * (ridge + kStep * gram).ldlt().solve(data.transpose() * labels / 2);
    const Eigen::LLT<MatrixXd> root(gram);
    noise = root.matrixL().solve(data.transpose()).transpose();
  }
};

/// As the paper's Lemma 1 calibrates it for (1, 1e-5), with b1 = sqrt(N).
double sigma_of_lemma() {
  const double bound = std::sqrt(double(kRecords)), parties = 2;
  const double change = 3 / (double(kFeatures) * kStep) * (kRidge + (1 + parties * kStep) * bound);
  return std::sqrt(2 * std::log(1.25e5)) * change;
}

}  // namespace

Result<Target> off_support_residual() {
  const MatrixXd first = binary_rows();
  MatrixXd second = first;
  second.row(5) = first.row(6);  // One record replaced.
  const Party parties[] = {Party(first), Party(second)};
  const MatrixXd basis =
      first.householderQr().householderQ() * MatrixXd::Identity(kRecords, kFeatures);
  const double sigma = sigma_of_lemma();
  return Target{.claimed = {1, 1e-5}, .play = [=](World world, Entropy& entropy) -> Result<double> {
                  const Party& party = parties[world == World::kSecond];
                  VectorXd z(kFeatures);
                  for (double& value : z) value = sigma * normal(entropy);
                  const VectorXd sent = party.message + party.noise * z;
                  const VectorXd outside = sent - basis * (basis.transpose() * sent);
                  return std::log10(1e-18 + outside.norm() / sent.norm());
                }};
}

}  // namespace parley::planted
