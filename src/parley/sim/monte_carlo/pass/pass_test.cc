#include "parley/sim/monte_carlo/pass/pass.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "parley/base/math/seeded_random.h"
#include "parley/learn/fitness.h"
#include "parley/learn/objective.h"

namespace parley::sim::monte_carlo {
namespace pass_test {

using learn::ClipIn, learn::Isa, learn::Losses, data::Rows;

Rows some_rows(size_t count, size_t columns, uint64_t seed = 1) {
  SeededRandom random(seed, 0);
  Rows rows(columns);
  std::vector<double> z(columns);
  for (size_t i = 0; i < count; ++i) {
    for (double& value : z) value = random.normal();
    rows.add(z, random.uniform() < .3 ? 1 : -1);
  }
  return rows;
}

std::vector<double> some_models(size_t count, size_t columns) {
  SeededRandom random(2, 0);
  std::vector<double> models(count * columns);
  for (double& value : models) value = .5 * random.normal();
  return models;
}

const Losses kLosses[] = {learn::Squared{}, learn::Hinge{}, learn::Logistic{}, learn::Huber{.7},
                          learn::Hinge{{.5, 3}}};
const std::tuple<ClipIn, double> kClips[] = {
    {ClipIn::kNone, 0}, {ClipIn::kL1, 2}, {ClipIn::kL2, 1.5}};
// One row, one short of a block, of a chunk, some chunks; columns that fill tiles and do not.
const std::tuple<size_t, size_t> kShapes[] = {{1, 1}, {47, 5}, {528, 6}, {1600, 31}, {1059, 13}};

/// sums / rows beside the reference, for every loss, clip and shape.
template <class Real, class Pass>
void expect_gradients(double tolerance, size_t models, const Pass& pass) {
  for (const auto& [count, columns] : kShapes)
    for (const auto& [clip, limit] : kClips)
      for (const Losses& loss : kLosses) {
        const Rows rows = some_rows(count, columns);
        const std::vector<double> all = some_models(models, columns);
        std::vector<double> sums(all.size());
        pass(loss, PackedRows<Real>(loss, rows, clip, limit), all, sums);
        for (size_t r = 0; r < models; ++r) {
          const auto theta = std::span(all).subspan(r * columns, columns);
          const auto expected = learn::mean_gradient(loss, rows, theta, clip, limit);
          for (size_t j = 0; j < columns; ++j)
            ASSERT_NEAR(sums[r * columns + j] / double(count), expected[j], tolerance)
                << name_of(loss) << " " << count << " x " << columns << ", model " << r;
        }
      }
}

/// Calls use(isa) for those that this machine has.
template <class Use>
void with_isas(const Use& use) {
  use(Isa::kV3);
  if (learn::fastest_isa() == Isa::kV4) use(Isa::kV4);
}

TEST(MonteCarloPass, GradientsInDoubleAreThoseOfTheReference) {
  with_isas([](Isa isa) {
    expect_gradients<double>(1e-12, 35, [&](auto&&... args) { add_gradients(args..., isa); });
    expect_gradients<double>(1e-12, 3,
                             [&](auto&&... args) { add_gradients_by_rows(args..., isa); });
  });
}

// Slopes are at most about 12 and features 4, so that single precision is good for 1e-5 of a mean.
// At a kink, one rounding decides between two slopes: no score of these rows lies so near.
TEST(MonteCarloPass, GradientsInSingleAreThoseOfTheReferenceUpToRounding) {
  with_isas([](Isa isa) {
    expect_gradients<float>(1e-5, 70, [&](auto&&... args) { add_gradients(args..., isa); });
    expect_gradients<float>(1e-5, 3, [&](auto&&... args) { add_gradients_by_rows(args..., isa); });
  });
}

TEST(MonteCarloPass, ValuesAreTheFitness) {
  for (const Losses& loss : kLosses) {
    const Rows rows = some_rows(1059, 13);
    const std::vector<double> models = some_models(35, 13);
    learn::Fitness fitness(loss, 13, 0);
    fitness.add(rows);
    std::vector<double> exact(35), single(35);
    add_values(loss, PackedRows<double>(loss, rows, ClipIn::kL1, .1), models, exact);
    add_values(loss, PackedRows<float>(loss, rows, ClipIn::kL1, .1), models, single);
    for (size_t r = 0; r < 35; ++r) {
      const double expected = fitness.at(std::span(models).subspan(r * 13, 13));
      EXPECT_NEAR(exact[r] / 1059, expected, 1e-12 * expected) << name_of(loss);
      EXPECT_NEAR(single[r] / 1059, expected, 1e-6 * expected) << name_of(loss);
    }
  }
}

/// The sums of the last model, alone and behind any number of others, on every instruction set.
template <class Real, class Pass>
void expect_same_bits(const Pass& pass) {
  const Rows rows = some_rows(1600, 31);
  const std::vector<double> models = some_models(67, 31);
  for (const Losses& loss : kLosses) {
    const PackedRows<Real> packed(loss, rows, ClipIn::kL1, 8);
    std::vector<std::vector<double>> found;
    for (size_t beside : {0u, 1u, 15u, 16u, 40u, 66u})
      with_isas([&](Isa isa) {
        std::vector<double> sums((beside + 1) * 31);
        pass(loss, packed, std::span(models).last(sums.size()), sums, isa);
        found.emplace_back(sums.end() - 31, sums.end());
      });
    for (const auto& each : found) ASSERT_EQ(each, found.front()) << name_of(loss);
  }
}

TEST(MonteCarloPass, AModelsSumsHaveTheSameBitsWhateverStandsBesideIt) {
  const auto wide = [](auto&&... args) { add_gradients(args...); };
  const auto narrow = [](auto&&... args) { add_gradients_by_rows(args...); };
  expect_same_bits<float>(wide);
  expect_same_bits<double>(wide);
  expect_same_bits<float>(narrow);
  expect_same_bits<double>(narrow);
}

}  // namespace pass_test
}  // namespace parley::sim::monte_carlo
