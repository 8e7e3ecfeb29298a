// Attacks on one answer of the Gaussian mechanism, as an auditor would run them: neighbouring data
// sets go through the owner's kernel, noise is drawn, and the loss is certified from counts. Every
// certificate is wrong with probability at most 2e-6.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "parley/gate/clip_and_sum.h"
#include "parley/learn/kernel/kernel.h"
#include "parley/plan/sensitivity.h"
#include "parley/privacy/accounting/zcdp.h"
#include "parley/privacy/mechanism/gaussian.h"
#include "support/entropy.h"
#include "support/statistics.h"

namespace parley::gate {
namespace gaussian_audit_test {

using learn::Lattice, data::Rows, privacy::Gaussian;
using Integers = std::vector<int64_t>;

constexpr uint64_t kTrials = 400'000;
constexpr double kAlpha = 1e-6;
constexpr double kEpsilon = 1, kDelta = 1e-2;
constexpr size_t kColumns = 10;
constexpr double kClip = 3;

const Lattice& lattice() {
  static const Lattice kLattice = *Lattice::make(kClip, 24, kColumns);
  return kLattice;
}

Gaussian calibrated() {
  const double rho = privacy::zcdp_rho(kEpsilon, *privacy::Delta::make(kDelta));
  return *Gaussian::calibrate(plan::sensitivity<L2>(lattice(), 1), 1, *privacy::Rho::make(rho));
}

/// One ordinary record and one of the attacker's along the diagonal, at theta = 0.
template <class Norm>
Integers kernel_sum(double label) {
  Rows rows(kColumns);
  std::array<double, kColumns> z{0.1};
  rows.add(z, 0.3);
  z.fill(50);
  rows.add(z, label);
  const std::vector<double> theta(kColumns);
  return learn::lattice_sum<Norm>(learn::Squared{}, lattice(), theta, rows, 0, rows.size());
}

/// Certified part of delta: P[A] - e^epsilon P'[A], where A is "the noisy sum lies beyond `at`
/// steps from the middle, along the difference of the worlds": the Gaussian's worst events.
double certified_delta(const Integers& first, const Integers& second, const Gaussian& gaussian,
                       double at, const char* label) {
  test::SeededEntropy entropy(12, label);
  double length = 0;
  for (size_t j = 0; j < kColumns; ++j) length += std::pow(double(first[j] - second[j]), 2);
  length = std::sqrt(length);
  const auto hits = [&](const Integers& world) {
    uint64_t count = 0;
    for (uint64_t trial = 0; trial < kTrials; ++trial) {
      double along = 0;
      for (size_t j = 0; j < kColumns; ++j) {
        const double middle = (double(first[j]) + double(second[j])) / 2;
        along += (double(world[j] + gaussian.sample(entropy)) - middle) *
                 double(first[j] - second[j]) / length;
      }
      count += along > at * gaussian.scale();
    }
    return count;
  };
  return test::binomial_lower(hits(first), kTrials, kAlpha) -
         std::exp(kEpsilon) * test::binomial_upper(hits(second), kTrials, kAlpha);
}

/// Where the loss of the exact continuous mechanism passes epsilon: epsilon sigma / D.
double boundary(const Gaussian& gaussian) {
  return kEpsilon * gaussian.scale() / plan::sensitivity<L2>(lattice(), 1);
}

TEST(GaussianAudit, OneAnswerCertifiesNoMoreThanItsDelta) {
  const Gaussian gaussian = calibrated();
  const Integers plus = kernel_sum<L2>(-1), minus = kernel_sum<L2>(1);
  const double found = certified_delta(plus, minus, gaussian, boundary(gaussian), "sound");
  EXPECT_LE(found, kDelta);
  EXPECT_GT(found, 0) << "the audit has lost its power";
}

TEST(GaussianAudit, CatchesNoiseThatIsTooSmall) {
  const Integers plus = kernel_sum<L2>(-1), minus = kernel_sum<L2>(1);
  const Gaussian small = *Gaussian::make(std::floor(calibrated().variance() / 2));
  EXPECT_GT(certified_delta(plus, minus, small, boundary(small), "small"), kDelta);
}

// With the sensitivity of one record only, instead of a record replaced by its opposite.
TEST(GaussianAudit, CatchesASensitivityOfHalf) {
  const Integers plus = kernel_sum<L2>(-1), minus = kernel_sum<L2>(1);
  const Gaussian small = *Gaussian::make(std::floor(calibrated().variance() / 4));
  EXPECT_GT(certified_delta(plus, minus, small, boundary(small), "half"), 5 * kDelta);
}

}  // namespace gaussian_audit_test
}  // namespace parley::gate
