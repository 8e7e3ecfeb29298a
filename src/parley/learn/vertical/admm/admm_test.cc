#include "parley/learn/vertical/admm/admm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "parley/learn/fitness.h"
#include "parley/learn/vertical/admm/prox.h"

namespace parley::learn {
namespace admm_test {

using Matrix = std::vector<std::vector<double>>;

data::AnyRows dense(const Matrix& matrix) {
  auto rows = std::make_shared<data::Rows>(matrix[0].size());
  for (const auto& row : matrix) rows->add(row, 0);
  return std::shared_ptr<const data::Rows>(rows);
}

data::AnyRows sparse(const Matrix& matrix) {
  auto rows = std::make_shared<data::SparseRows>(matrix[0].size());
  for (const auto& row : matrix) {
    std::vector<uint32_t> at;
    std::vector<double> values;
    for (size_t j = 0; j < row.size(); ++j)
      if (row[j] != 0) at.push_back(static_cast<uint32_t>(j)), values.push_back(row[j]);
    rows->add(at, values, 0);
  }
  return std::shared_ptr<const data::SparseRows>(rows);
}

Matrix random_matrix(size_t rows, size_t columns, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Matrix matrix(rows, std::vector<double>(columns));
  for (auto& row : matrix)
    for (double& value : row) value = random() % 3 ? normal(random) : 0;
  return matrix;
}

std::vector<double> random_labels(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> labels(count);
  for (double& label : labels) label = random() % 2 ? 1 : -1;
  return labels;
}

void expect_near(std::span<const double> found, const std::vector<double>& expected,
                 double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
}

/// The four records of the numpy reference's golden values.
struct Golden {
  std::vector<data::AnyRows> columns{dense({{1, 0}, {.5, -.5}, {-1, .25}, {0, 1}}),
                                     dense({{.5}, {1}, {-.25}, {-1}})};
  std::vector<double> labels{1, -1, -1, 1};
  std::vector<PartyStep> parties{};
  std::vector<double> sum{};

  Coordinator run(Scaling scaling, bool warm, int rounds) {
    const AdmmOptions options{.lam = 1, .rho = .5, .scaling = scaling, .warm = warm};
    parties.clear();
    for (const data::AnyRows& block : columns)
      parties.push_back(*PartyStep::make(block, Penalty::kSquares, 1, .5));
    Coordinator coordinator(options, labels, 2);
    for (int round = 0; round < rounds; ++round) {
      sum.assign(4, 0);
      for (PartyStep& party : parties) {
        party.step(coordinator.message());
        for (size_t i = 0; i < 4; ++i) sum[i] += party.share()[i];
      }
      coordinator.step(sum);
    }
    return coordinator;
  }
};

TEST(AdmmSharing, GoldenBoydWarm) {
  Golden golden;
  const Coordinator first = golden.run(Scaling::kBoyd, true, 1);
  expect_near(golden.parties[0].model(), {0.404519774011299, 0.438418079096045}, 1e-14);
  expect_near(golden.parties[1].model(), {-0.289855072463768}, 1e-14);
  expect_near(golden.sum,
              {0.259592237779415, -0.306804225006141, -0.222451486121346, 0.728273151559813},
              1e-14);
  expect_near(first.z(),
              {0.129887268844969, -0.15355261289396, -0.111283093776732, 0.366154944502074}, 1e-14);
  expect_near(first.y(),
              {-0.467573757766388, 0.461687096971955, 0.472207901913846, -0.409470448235565},
              1e-14);
  const Coordinator third = golden.run(Scaling::kBoyd, true, 3);
  expect_near(golden.parties[0].model(), {0.568932583998014, 0.432198877974348}, 1e-14);
  expect_near(golden.parties[1].model(), {-0.380804049308729}, 1e-14);
  expect_near(golden.sum,
              {0.37853055934365, -0.312437196296896, -0.365681852177245, 0.813002927283077}, 1e-14);
  expect_near(third.z(),
              {0.311565274785198, -0.271488044473985, -0.294221890187075, 0.705180939632015},
              1e-14);
  expect_near(third.y(),
              {-0.422732719101156, 0.432541818821163, 0.426970594057722, -0.330664549440156},
              1e-14);
}

TEST(AdmmSharing, GoldenPaper) {
  Golden golden;
  golden.run(Scaling::kPaper, false, 1);
  expect_near(golden.parties[0].model(), {0, 0}, 0);  // As printed, the first round does nothing.
  const Coordinator second = golden.run(Scaling::kPaper, false, 2);
  expect_near(golden.parties[0].model(), {0.545965464258935, 0.591716760146556}, 1e-14);
  expect_near(golden.parties[1].model(), {-0.391206732952116}, 1e-14);
  expect_near(second.z(),
              {0.452882007245207, -0.496144888661183, -0.41894259006616, 0.890220521870986}, 1e-14);
  expect_near(second.y(),
              {-0.388675761902365, 0.378447061053829, 0.396769806712146, -0.291064321557357},
              1e-14);
  const Coordinator warm = golden.run(Scaling::kPaper, true, 1);
  expect_near(warm.z(),
              {0.173205398508484, -0.204773671353938, -0.148391557717544, 0.488681564558922},
              1e-14);
  golden.run(Scaling::kPaper, true, 3);
  expect_near(golden.parties[0].model(), {0.547747129004425, 0.42007112781429}, 1e-14);
  expect_near(golden.parties[1].model(), {-0.37266840799175}, 1e-14);
}

/// In the letters of theory (V1): the sum s, the dual y, the label and rho_z.
template <class L>
double z_of(const L& loss, double s, double y, double label, double rho) {
  const double centre = s + y / rho;
  double z = 0;
  prox_each(loss, {&centre, 1}, {&label, 1}, rho, {&z, 1});
  return z;
}

TEST(AdmmProx, Golden) {
  struct Case {
    double s, y, label, rho, logistic, hinge, squared;
  };
  for (const Case& c : {Case{.3, -.2, 1, .5, .605961821042355, 1, .633333333333333},
                        Case{.3, -.2, -1, .5, -.744181071809905, -1, -.7},
                        Case{-3.5, .9, 1, .05, 14.5000100868464, 14.5, 1.64285714285714},
                        Case{12, -.5, -1, .01, -38, -38, -1.36633663366337}}) {
    EXPECT_NEAR(z_of(Logistic{}, c.s, c.y, c.label, c.rho), c.logistic, 1e-13);
    EXPECT_NEAR(z_of(Hinge{}, c.s, c.y, c.label, c.rho), c.hinge, 1e-13);
    // There the squared loss has a half: the same point for twice the other terms.
    EXPECT_NEAR(z_of(Squared{}, c.s, 2 * c.y, c.label, 2 * c.rho), c.squared, 1e-13);
  }
}

template <class L>
class AdmmProxOf : public testing::Test {};
using Smooth = testing::Types<Squared, Huber, Logistic>;
TYPED_TEST_SUITE(AdmmProxOf, Smooth);

TYPED_TEST(AdmmProxOf, LeavesNoSlope) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(0, 5);
  const TypeParam loss{};
  for (const double rho : {.01, .05, .3, 1., 20.})
    for (int k = 0; k < 20000; ++k) {
      const double centre = normal(random) / rho, label = random() % 2 ? 1 : -1;
      double z = 0;
      prox_each(loss, {&centre, 1}, {&label, 1}, rho, {&z, 1});
      // What one unit in the last place of the centre is worth.
      const double worth = 1e-15 * rho * std::fabs(centre);
      EXPECT_NEAR(loss.slope(z, label), rho * (centre - z), 1e-13 + 4 * worth)
          << centre << " " << rho;
    }
}

TEST(AdmmProx, HingeIsNoWorseThanItsNeighbours) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal(0, 3);
  const Hinge loss{{1, 4}};
  for (int k = 0; k < 10000; ++k) {
    const double centre = normal(random), label = random() % 2 ? 1 : -1, rho = .5;
    const double z = prox(loss, centre, label, rho);
    const auto cost = [&](double at) {
      return loss.value(at, label) + rho / 2 * (at - centre) * (at - centre);
    };
    for (const double away : {-1e-3, 1e-3}) EXPECT_LE(cost(z), cost(z + away) + 1e-15);
  }
}

TEST(AdmmSharing, YIsTheSlopeAtZ) {
  const Matrix left = random_matrix(200, 6, 3), right = random_matrix(200, 4, 4);
  const auto labels = random_labels(200, 5);
  for (const double rho : {.05, .5}) {
    std::vector<PartyStep> parties;
    parties.push_back(*PartyStep::make(dense(left), Penalty::kSquares, 1, rho));
    parties.push_back(*PartyStep::make(dense(right), Penalty::kSquares, 1, rho));
    Coordinator coordinator({.rho = rho}, labels, 2);
    for (int round = 0; round < 5; ++round) {
      std::vector<double> sum(200);
      for (PartyStep& party : parties) {
        party.step(coordinator.message());
        for (size_t i = 0; i < 200; ++i) sum[i] += party.share()[i];
      }
      coordinator.step(sum);
      for (size_t i = 0; i < 200; ++i)
        EXPECT_NEAR(coordinator.y()[i], Logistic{}.slope(coordinator.z()[i], labels[i]), 1e-12);
    }
  }
}

TEST(PartyStep, DualGolden) {
  auto party = *PartyStep::make(dense({{1, 0, .5, 2}, {0, -1, .25, 1}}), Penalty::kSquares, 1, .5);
  const std::vector<double> h{-1, 2};  // v = -h at first
  party.step(h);
  expect_near(party.share(), {1. / 3, -2. / 3}, 1e-15);
  expect_near(party.model(), {1. / 3, 2. / 3, 0, 0}, 1e-15);
}

/// The same columns twice, of which the second are 0 for all records: not fewer than records, so
/// that the other form is taken.
TEST(PartyStep, PrimalAndDualAgree) {
  const Matrix narrow = random_matrix(12, 9, 6);
  Matrix wide = narrow;
  for (auto& row : wide) row.resize(20, 0);
  auto primal = *PartyStep::make(dense(narrow), Penalty::kSquares, .3, .2);
  auto dual = *PartyStep::make(dense(wide), Penalty::kSquares, .3, .2);
  const Matrix h = random_matrix(3, 12, 7);
  for (const auto& message : h) {
    primal.step(message), dual.step(message);
    for (size_t j = 0; j < 9; ++j) EXPECT_NEAR(primal.model()[j], dual.model()[j], 1e-12);
    for (size_t j = 9; j < 20; ++j) EXPECT_EQ(dual.model()[j], 0);
  }
}

TEST(PartyStep, SparseAndDenseAgree) {
  for (const size_t columns : {size_t{7}, size_t{60}, size_t{300}}) {
    const Matrix matrix = random_matrix(40 + columns / 2, columns, 8);
    for (const Penalty penalty : {Penalty::kSquares, Penalty::kSizes}) {
      auto one = *PartyStep::make(dense(matrix), penalty, .5, .2, 2);
      auto other = *PartyStep::make(sparse(matrix), penalty, .5, .2, 1);
      const Matrix h = random_matrix(2, matrix.size(), 9);
      for (const auto& message : h) {
        one.step(message), other.step(message);
        for (size_t j = 0; j < columns; ++j)
          EXPECT_NEAR(one.model()[j], other.model()[j], 1e-10) << columns;
      }
    }
  }
}

TEST(PartyStep, LassoMeetsItsOptimalityConditions) {
  const Matrix matrix = random_matrix(50, 10, 10);
  const double lam = 2, rho = .5;
  auto party = *PartyStep::make(dense(matrix), Penalty::kSizes, lam, rho);
  const Matrix h = random_matrix(1, 50, 11);
  party.step(h[0]);
  size_t zeros = 0;
  for (size_t j = 0; j < 10; ++j) {
    double slope = 0;
    for (size_t i = 0; i < 50; ++i) slope += rho * matrix[i][j] * (party.share()[i] + h[0][i]);
    const bool zero = party.model()[j] == 0;
    zeros += zero;
    if (zero)
      EXPECT_LE(std::fabs(slope), lam + 1e-9);
    else
      EXPECT_NEAR(slope, -std::copysign(lam, party.model()[j]), 1e-9);
  }
  EXPECT_GT(zeros, 0u);
  EXPECT_LT(zeros, 10u);
}

TEST(PartyStep, DependentAndConstantColumnsAreFine) {
  Matrix matrix = random_matrix(30, 3, 12);
  for (auto& row : matrix) row.push_back(row[0] + row[1]), row.push_back(1), row.push_back(0);
  auto party = *PartyStep::make(dense(matrix), Penalty::kSquares, 1e-3, .1);
  party.step(random_matrix(1, 30, 13)[0]);
  for (double x : party.model()) EXPECT_TRUE(std::isfinite(x));
}

TEST(PartyStep, NeedsAPenalty) {
  const auto made = PartyStep::make(dense({{1}, {2}}), Penalty::kSquares, 0, .1);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::kInvalid);
}

/// Both scalings, three parties, every loss: to the optimum of all columns together.
TEST(AdmmSharing, ReachesTheCentralOptimum) {
  const Matrix all = random_matrix(400, 9, 14);
  const auto labels = random_labels(400, 15);
  data::Rows pooled(9);
  for (size_t i = 0; i < 400; ++i) pooled.add(all[i], labels[i]);
  std::vector<data::AnyRows> columns;
  for (size_t m = 0; m < 3; ++m) {
    Matrix part(400);
    for (size_t i = 0; i < 400; ++i)
      part[i].assign(all[i].begin() + long(3 * m), all[i].begin() + long(3 * m + 3));
    columns.push_back(m == 1 ? sparse(part) : dense(part));
  }
  const double lam = 2;
  for (const Losses& loss : {Losses(Squared{}), Losses(Logistic{}), Losses(Hinge{}),
                             Losses(Huber{.5}), Losses(Logistic{{1, 3}})}) {
    Fitness fitness(loss, 9, lam / 400);
    fitness.add(pooled);
    const double optimum = fitness.minimum(100).fitness;
    for (const Scaling scaling : {Scaling::kBoyd, Scaling::kPaper}) {
      const auto result = share_by_admm(columns, labels,
                                        {.loss = loss,
                                         .lam = lam,
                                         .rho = .5,
                                         .scaling = scaling,
                                         .rounds_max = 3000,
                                         .tolerance = 1e-9});
      ASSERT_TRUE(result);
      EXPECT_NEAR(result->rounds.back().objective / optimum, 1, 1e-5) << name_of(loss);
    }
  }
}

TEST(AdmmSharing, StopsWhenBothResidualsAreSmall) {
  const Matrix matrix = random_matrix(100, 5, 16);
  const auto labels = random_labels(100, 17);
  const auto result =
      share_by_admm({dense(matrix)}, labels, {.rho = .3, .rounds_max = 500, .tolerance = 1e-3});
  ASSERT_TRUE(result);
  EXPECT_LT(result->rounds.size(), 100u);
  EXPECT_LE(result->rounds.back().primal_residual, 1e-3 * 10);
}

/// Six parties with nearly the same columns.
TEST(AdmmSharing, JacobiDivergesForPartiesAlikeAndBoydDoesNot) {
  const Matrix base = random_matrix(300, 5, 18);
  std::vector<data::AnyRows> columns;
  for (uint64_t m = 0; m < 6; ++m) {
    Matrix part = base;
    const Matrix noise = random_matrix(300, 5, 19 + m);
    for (size_t i = 0; i < 300; ++i)
      for (size_t j = 0; j < 5; ++j) part[i][j] += .05 * noise[i][j];
    columns.push_back(dense(part));
  }
  std::vector<double> labels(300);
  for (size_t i = 0; i < 300; ++i) labels[i] = base[i][0] + base[i][1] > 0 ? 1 : -1;
  const auto paper =
      share_by_admm(columns, labels, {.rho = .1, .scaling = Scaling::kPaper, .rounds_max = 50});
  ASSERT_FALSE(paper);
  EXPECT_NE(paper.error().what.find("diverges"), std::string::npos);
  EXPECT_NE(paper.error().hint.find("boyd"), std::string::npos);
  EXPECT_TRUE(share_by_admm(columns, labels, {.rho = .1, .rounds_max = 50}));
}

}  // namespace admm_test
}  // namespace parley::learn
