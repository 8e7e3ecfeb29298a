#include "parley/learn/vertical/noisy_sharing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/entropy.h"

namespace parley::learn {
namespace noisy_sharing_test {

struct Luck {
  test::SeededEntropy entropy;
  explicit Luck(uint64_t seed) : entropy(seed, "records") {}
  double uniform() { return double(entropy.word() >> 11) * 0x1p-53 * 2 - 1; }
};

NoisySharingPlan some_plan(uint64_t rows) {
  return {.rows = rows, .lam = .5, .rho = .2, .row_norms = {.8}, .balls = {2}, .target_clip = 3};
}

data::AnyRows some_rows(Luck& luck, size_t count, size_t columns, size_t last_from) {
  auto rows = std::make_shared<data::Rows>(columns);
  for (size_t i = 0; i < count; ++i) {
    std::vector<double> z(columns);
    for (double& value : z) value = (i + 1 == count ? double(last_from) : 1) * luck.uniform();
    rows->add(z, 0);
  }
  return std::shared_ptr<const data::Rows>(rows);
}

TEST(NoisySharing, RoundingIsBoundedUnlessRecordsAreFarTooMany) {
  for (const uint64_t few : {30u, 1'000'000u})
    EXPECT_LT(some_plan(few).rounding(0, 100), some_plan(few).tolerance(0));
  EXPECT_GT(some_plan(100'000'000'000).rounding(0, 3), some_plan(100'000'000'000).tolerance(0));
}

/// The minimum over the ball, by many small projected steps.
TEST(NoisySharing, TheStepIsTheMinimumOverTheBall) {
  Luck luck(1);
  for (const double length : {.1, 3.}) {
    const data::AnyRows rows = some_rows(luck, 30, 3, 1);
    const NoisySharingPlan plan = some_plan(30);
    NoisySharingParty party(rows, plan, 0);
    std::vector<double> zero(30), h(30);
    for (double& value : h) value = length * luck.uniform();
    party.step(zero, h);
    const auto objective = [&](std::span<const double> x) {
      double sum = 0, squares = 0;
      for (const double value : x) squares += value * value;
      for (size_t i = 0; i < 30; ++i) {
        const auto row = std::get<0>(rows)->row(i);
        double norm = 0, score = 0;
        for (const double value : row) norm += value * value;
        const double by = std::min(1.0, .8 / std::sqrt(norm));
        for (size_t j = 0; j < 3; ++j) score += by * row[j] * x[j];
        sum += std::pow(score + std::clamp(h[i], -3., 3.), 2);
      }
      return .5 * plan.lam * squares + .5 * plan.rho * sum;
    };
    const std::vector<double> found(party.model().begin(), party.model().end());
    double norm = 0;
    for (const double value : found) norm += value * value;
    EXPECT_LE(std::sqrt(norm), 2 * (1 + 1e-9));
    for (int trial = 0; trial < 2000; ++trial) {
      std::vector<double> near = found;
      double squares = 0;
      for (double& value : near) value += .01 * luck.uniform(), squares += value * value;
      const double by = std::min(1.0, std::sqrt(4 / squares));
      for (double& value : near) value *= by;
      EXPECT_GE(objective(near), objective(found) - 1e-9);
    }
  }
}

/// 10^4 random pairs of neighbours, never beyond the bound.
TEST(NoisySharing, NeighboursStayWithinTheBound) {
  Luck luck(2);
  double worst = 0;
  for (int trial = 0; trial < 10'000; ++trial) {
    const size_t count = 2 + luck.entropy.word() % 4, columns = 1 + luck.entropy.word() % 3;
    const NoisySharingPlan plan = some_plan(count);
    const data::AnyRows first = some_rows(luck, count, columns, 1);
    auto other = std::make_shared<data::Rows>(*std::get<0>(first));
    auto second = std::make_shared<data::Rows>(columns);
    for (size_t i = 0; i + 1 < count; ++i) second->add(other->row(i), 0);
    std::vector<double> z(columns);
    for (size_t j = 0; j < columns; ++j)
      z[j] = trial % 2 ? luck.uniform() : -other->row(count - 1)[j];
    second->add(z, 0);
    NoisySharingParty one(first, plan, 0),
        two(data::AnyRows(std::shared_ptr<const data::Rows>(second)), plan, 0);
    std::vector<double> published(count), h(count);
    for (double& value : h) value = 6 * luck.uniform();
    const auto a = one.step(published, h), b = two.step(published, h);
    double squares = 0;
    for (size_t i = 0; i < count; ++i) squares += std::pow(double(a[i] - b[i]), 2);
    worst = std::max(worst, std::sqrt(squares) / plan.sensitivity());
  }
  EXPECT_LE(worst, 1);
  EXPECT_GT(worst, .2);
}

}  // namespace noisy_sharing_test
}  // namespace parley::learn
