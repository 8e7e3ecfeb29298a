// S9 and S10 of docs/checks.md, and what single precision costs.
#include <gtest/gtest.h>

#include <cmath>

#include "parley/sim/monte_carlo/monte_carlo.h"
#include "parley/sim/standin/credit.h"
#include "parley/sim/standin/lending.h"

namespace parley::sim::monte_carlo {
namespace acceptance_test {

constexpr double kT = 100;

/// The profile P-lend-sync: three owners of the lending stand-in without drift, squared loss.
Population lending(uint64_t rows_each) {
  const Lending made = *Lending::make({.rows = 3 * rows_each, .drift = 0});
  Population population({.loss = learn::Squared{}}, made.components());
  std::vector<double> z(made.components());
  for (uint64_t owner = 0; owner < 3; ++owner) {
    data::Rows rows(made.components());
    for (uint64_t i = owner * rows_each; i < (owner + 1) * rows_each; ++i) {
      double rate = 0;
      made.features(i, z, rate);
      rows.add(z, (rate - 13.25) / 15.75);
    }
    population.add(rows);
  }
  return population;
}

/// Mean relative fitness of Algorithm 2 at each epsilon, by draws of its own.
std::vector<Spread> at_epsilons(const Population& population, const std::vector<double>& epsilons,
                                uint64_t runs) {
  constexpr double kClip = 4560;  // believed, not enforced
  Job job{.population = population,
          .rule = learn::algorithm2(98, .5, learn::Average::kPaper,
                                    std::vector<double>(population.columns())),
          .runs = runs};
  for (double epsilon : epsilons) {
    const double scale = 2 * kClip * kT / (population.rows(0) * epsilon);
    job.cells.push_back({.scales = {scale, scale, scale}, .stream = job.cells.size()});
  }
  std::vector<Spread> spreads;
  const auto samples = run(job, {.threads = 2});
  for (const Sample& sample : *samples) spreads.push_back(sample.spread());
  return spreads;
}

// False failure below 1e-9: the slope's standard error is about 0.006.
TEST(MonteCarloAcceptance, S9TheSlopeOfFitnessOverEpsilonIsMinusTwo) {
  const std::vector<double> epsilons = {.1, .316, 1, 3.16, 10};
  const auto spreads = at_epsilons(lending(10'000), epsilons, 400);
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (size_t k = 0; k < 5; ++k) {
    const double x = std::log(epsilons[k]), y = std::log(spreads[k].mean);
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  EXPECT_NEAR((5 * sxy - sx * sy) / (5 * sxx - sx * sx), -2, .05);
}

// False failure 1e-6: the ratio's standard error is about 2 %.
TEST(MonteCarloAcceptance, S10FitnessFallsAHundredfoldFromEpsilonOneToTen) {
  const auto spreads = at_epsilons(lending(250'000), {1, 10}, 1000);
  EXPECT_GT(spreads[0].mean / spreads[1].mean, 90);
  EXPECT_LT(spreads[0].mean / spreads[1].mean, 111);
}

/// Three owners of the credit stand-in, rows as they are.
Population credit(const data::Rows& rows, Precision precision, learn::Losses loss) {
  Population population({.loss = loss, .l2 = 1, .box = 50, .clip = learn::ClipIn::kL1, .limit = 30},
                        rows.columns(), precision);
  for (int owner = 0; owner < 3; ++owner) population.add(rows);
  return population;
}

// The same draws in single and in double precision: what differs is rounding alone, and it must not
// count beside what 100,000 runs would still leave open, a 32nd of the standard error of 100.
TEST(MonteCarloAcceptance, SinglePrecisionMovesTheMeanByLessThanAThirtiethOfItsStandardError) {
  const Standin standin = credit_standin({.name = "credit", .owners = {3000}, .pilot = 1000});
  data::Rows rows(30);
  std::vector<double> z(30, 1.);
  for (uint64_t i = 0; i < 3000; ++i) {
    double fraud = 0;
    standin.draw(i, std::span(z).first(29), fraud);
    rows.add(z, fraud > 0 ? 1 : -1);
  }
  for (const learn::Losses& loss :
       {learn::Losses(learn::Hinge{}), learn::Losses(learn::Logistic{})})
    for (double scale : {.01, .3}) {
      std::vector<Spread> spreads;
      for (Precision precision : {Precision::kSingle, Precision::kDouble}) {
        const Population population = credit(rows, precision, loss);
        const Job job{
            .population = population,
            .rule = learn::algorithm2(98, 1, learn::Average::kPaper, std::vector<double>(30)),
            .cells = {{.scales = {scale, scale, scale}}}};
        spreads.push_back((*run(job, {.threads = 2}))[0].spread());
      }
      EXPECT_LT(std::fabs(spreads[0].mean - spreads[1].mean), spreads[1].standard_error / 30)
          << name_of(loss) << " " << scale;
      EXPECT_GT(spreads[1].standard_error, 0);
    }
}

}  // namespace acceptance_test
}  // namespace parley::sim::monte_carlo
