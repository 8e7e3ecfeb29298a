// Attacks on one answer of the Laplace mechanism, as an auditor would run them: neighbouring data
// sets go through the owner's kernel, noise is drawn, and a bound on epsilon is certified from
// counts. Every certificate is wrong with probability at most 2e-6.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "parley/gate/clip_and_sum.h"
#include "parley/learn/kernel/kernel.h"
#include "parley/learn/objective.h"
#include "parley/plan/sensitivity.h"
#include "parley/privacy/mechanism/laplace.h"
#include "support/entropy.h"
#include "support/statistics.h"

namespace parley::gate {
namespace laplace_audit_test {

using learn::Lattice, data::Rows, learn::Squared, privacy::Laplace;
using test::certified_epsilon, test::SeededEntropy;
using Integers = std::vector<int64_t>;

constexpr uint64_t kTrials = 1'000'000;
constexpr double kAlpha = 1e-6;
constexpr double kEpsilon = 1;
constexpr size_t kColumns = 10;
constexpr double kClip = 3;

const Lattice& lattice() {
  static const Lattice kLattice = *Lattice::make(kClip, 24, kColumns);
  return kLattice;
}

Laplace calibrated() {
  return *Laplace::calibrate(plan::sensitivity<L1>(lattice(), 1), 1,
                             *privacy::Epsilon::make(kEpsilon));
}

/// Three ordinary records and one of the attacker's, at theta = 0: its gradient is -2 y z.
Rows data_set(const std::array<double, kColumns>& z, double y) {
  Rows rows(kColumns);
  std::array<double, kColumns> other{};
  for (size_t i = 0; i < 3; ++i) other[i] = 0.1, rows.add(other, 0.3);
  rows.add(z, y);
  return rows;
}

template <class Norm>
Integers kernel_sum(const Rows& rows) {
  const std::vector<double> theta(kColumns);
  return learn::lattice_sum<Norm>(Squared{}, lattice(), theta, rows, 0, rows.size());
}

/// The kernel with the clip left out.
Integers unclipped_sum(const Rows& rows) {
  const std::vector<double> theta(kColumns);
  Integers sum;
  for (double mean : learn::mean_gradient(Squared{}, rows, theta, learn::ClipIn::kNone, 0))
    sum.push_back(std::llrint(mean * double(rows.size()) / lattice().gamma()));
  return sum;
}

/// Certified epsilon of the event "no coordinate that differs lies below its noise-free value in
/// the first world", which is tight for Laplace noise and worlds whose first sum is the larger.
double certify(const Integers& first, const Integers& second, const Laplace& laplace,
               const char* label) {
  SeededEntropy entropy(11, label);
  const auto hits = [&](const Integers& world) {
    uint64_t count = 0;
    for (uint64_t trial = 0; trial < kTrials; ++trial) {
      bool inside = true;
      for (size_t j = 0; inside && j < kColumns; ++j)
        if (first[j] != second[j]) inside = world[j] + laplace.sample(entropy) >= first[j];
      count += inside;
    }
    return count;
  };
  return certified_epsilon(hits(first), hits(second), kTrials, kAlpha);
}

std::array<double, kColumns> along_first(double size) { return {size}; }

// S11. The point value is 1, the certificate about 0.985, so a 2 % inflation would be seen.
TEST(LaplaceAudit, OneAnswerCertifiesNoMoreThanItsEpsilon) {
  const Integers plus = kernel_sum<L1>(data_set(along_first(50), -1));
  const Integers minus = kernel_sum<L1>(data_set(along_first(50), 1));
  EXPECT_GT(plus[0] - minus[0], 2 * kClip / lattice().gamma() * 0.999) << "the attack is too weak";
  const double found = certify(plus, minus, calibrated(), "sound");
  EXPECT_LE(found, kEpsilon);
  EXPECT_GT(found, 0.97) << "the audit has lost its power";
}

// S13: without the clip, a record of five clip norms must be caught.
TEST(LaplaceAudit, CatchesAMissingClip) {
  const Rows long_record = data_set(along_first(5 * kClip / 2), -1);
  const Rows opposite = data_set(along_first(kClip / 2), 1);
  EXPECT_GT(certify(unclipped_sum(long_record), unclipped_sum(opposite), calibrated(), "no clip"),
            2.5);
}

// S13: a gradient clipped in L2, noise calibrated as for L1: the true epsilon is sqrt(p) = 3.16.
TEST(LaplaceAudit, CatchesAnL2BoundWithLaplaceNoise) {
  std::array<double, kColumns> diagonal;
  diagonal.fill(50);
  const Integers plus = kernel_sum<L2>(data_set(diagonal, -1));
  const Integers minus = kernel_sum<L2>(data_set(diagonal, 1));
  EXPECT_GT(certify(plus, minus, calibrated(), "l2 with laplace"), 1.5);
}

// S13 in small: noise 10 % too small is caught too.
TEST(LaplaceAudit, CatchesNoiseThatIsTenPercentTooSmall) {
  const Integers plus = kernel_sum<L1>(data_set(along_first(50), -1));
  const Integers minus = kernel_sum<L1>(data_set(along_first(50), 1));
  const Laplace small = *Laplace::make(calibrated().scale() * 9 / 10);
  EXPECT_GT(certify(plus, minus, small, "small"), kEpsilon);
}

/// Can -b sign ln(U), U a multiple of 2^-53, take `output` away from `center`? Tries every U
/// nearby.
bool feasible_in_doubles(double output, double center, double b) {
  const double noise = output - center;
  const double u = std::exp(-std::fabs(noise) / b);
  const double guess = std::floor(u * 0x1p53);
  for (double k = guess - 4; k <= guess + 4; ++k) {
    if (k < 1 || k > 0x1p53) continue;
    const double size = -b * std::log(k * 0x1p-53);
    if (center + (noise < 0 ? -size : size) == output) return true;
  }
  return false;
}

// S14: every output of the integer mechanism is possible under the neighbour, with the probability
// the proof says; of floating-point Laplace noise more than a third is impossible (Mironov 2012).
TEST(LaplaceAudit, IntegerOutputsArePossibleUnderEveryNeighbour) {
  const Integers plus = kernel_sum<L1>(data_set(along_first(50), -1));
  const Integers minus = kernel_sum<L1>(data_set(along_first(50), 1));
  const Laplace laplace = calibrated();
  SeededEntropy entropy(14, "support");
  for (int i = 0; i < 100'000; ++i) {
    const int64_t noise = laplace.sample(entropy);
    const int64_t other = plus[0] + noise - minus[0];  // The neighbour's noise for this output.
    const double loss =
        std::fabs(double(std::llabs(other) - std::llabs(noise))) / double(laplace.scale());
    ASSERT_LE(loss, kEpsilon);
  }
  int impossible = 0;
  const double b = 2 * kClip / kEpsilon, a = double(plus[0]) * lattice().gamma(),
               c = double(minus[0]) * lattice().gamma();
  for (int i = 0; i < 10'000; ++i) {
    const double u = double((entropy.word() >> 11) + 1) * 0x1p-53;
    const double output = a + (entropy.word() & 1 ? 1 : -1) * -b * std::log(u);
    impossible += !feasible_in_doubles(output, c, b);
  }
  EXPECT_GT(impossible, 3000) << "the control has lost its power";
}

}  // namespace laplace_audit_test
}  // namespace parley::gate
