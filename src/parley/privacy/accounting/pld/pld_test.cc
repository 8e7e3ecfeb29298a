#include "parley/privacy/accounting/pld/pld.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "parley/privacy/accounting/basic.h"
#include "parley/privacy/accounting/gdp.h"
#include "parley/privacy/accounting/pld/composition.h"
#include "parley/privacy/accounting/pld/pairs.h"
#include "parley/privacy/accounting/rdp.h"

namespace parley::privacy {
namespace pld_test {

constexpr Adjacency kAddRemove = Adjacency::kAddRemove;

double epsilon_of_list(const Events& events, double delta, Adjacency adjacency = kAddRemove) {
  return *pld_epsilon(events, *Delta::make(delta), adjacency);
}
double delta_of_list(const Events& events, double epsilon) {
  return *pld_delta(events, epsilon, kAddRemove);
}

/// At least the golden value, but for its last digit, and above it by the accuracy asked for.
void expect_golden(double value, double golden, double last_digit) {
  EXPECT_GE(value, golden - last_digit);
  EXPECT_LE(value, golden * (1 + 2e-6) + last_digit);
}

TEST(Pld, EqualsTheGoldenValuesOnTheSafeSide) {                                     // vertical 5.3
  expect_golden(delta_of_list({{LaplaceEvent{1}, 1}}, .5), 0.221199216929, 1e-12);  // P1
  expect_golden(epsilon_of_list({{LaplaceEvent{5}, 20}}, 1e-5), 3.3973131, 1e-7);   // P2
  expect_golden(delta_of_list({{LaplaceEvent{20}, 100}}, 1), 0.006362968, 1e-9);
  expect_golden(epsilon_of_list({{SampledGaussianEvent{.01, 1}, 1000}}, 1e-5), 1.828237, 1e-6);
  expect_golden(delta_of_list({{SampledGaussianEvent{.2, .5}, 3}}, 1), 0.155932776, 1e-9);  // P4
  expect_golden(epsilon_of_list({{DiscreteGaussianEvent{4, 1}, 20}}, 1e-5), 4.983617994, 1e-9);
  expect_golden(epsilon_of_list({{DiscreteLaplaceEvent{2, 1}, 10}}, 1e-5), 4.998854120, 1e-9);
  expect_golden(delta_of_list({{GaussianEvent{10}, 50}, {GaussianEvent{5}, 50}}, 4),
                0.0164556728641, 1e-13);  // P7
  expect_golden(
      epsilon_of_list({{SampledGaussianEvent{.05, 1.2}, 10}, {LaplaceEvent{10}, 5}}, 1e-5),
      1.260044, 1e-6);  // P8
  expect_golden(epsilon_of_list({{SampledGaussianEvent{.005, .8}, 1000}}, 1e-6), 2.004106, 1e-6);
  expect_golden(
      epsilon_of_list(
          {{SampledGaussianEvent{.005, .8}, 100}, {GaussianEvent{8}, 200}, {LaplaceEvent{10}, 100}},
          1e-6),
      11.149200, 1e-6);  // P10
  expect_golden(epsilon_of_list({{SampledGaussianEvent{.00256, .9}, 4900}}, 1e-5), 1.13992, 1e-5);
  expect_golden(delta_of_list({{GaussianEvent{100}, 10'000}}, 4), 4.71224120079312e-5, 1e-19);
}

TEST(Pld, EqualsAnotherLibraryOrIsTighter) {
  const double steps = epsilon_of_list({{SampledGaussianEvent{.01, 1}, 10'000}}, 1e-5);
  EXPECT_LE(steps, 6.187745);
  EXPECT_GE(steps, 6.187712);
  EXPECT_NEAR(epsilon_of_list({{LaplaceEvent{10}, 100}}, 1e-5), 4.220347, 1e-6);
  const double deltas[] = {3e-6, 1e-6, 3e-7, 1e-7, 1e-8};  // atoms at the ends of its losses
  const double theirs[] = {4.474358562, 4.692667439, 4.919158416, 5.115639653, 5.500155236};
  for (int i = 0; i < 5; ++i)
    EXPECT_NEAR(epsilon_of_list({{LaplaceEvent{10}, 100}}, deltas[i]), theirs[i], 2e-7);
  // Replacing a record: there the multiplier refers to its norm, here to the sensitivity.
  const double replace =
      epsilon_of_list({{SampledGaussianEvent{.01, .5}, 1000}}, 1e-5, Adjacency::kReplaceOne);
  EXPECT_LE(replace, 2.843445812);
  EXPECT_GE(replace, 2.843441);
}

/// One direction at a time: P3 and P9 have values for both.
template <class Pair>
double one_direction(const Pair& pair, double count, double delta, double guess) {
  Components components = {{connect_dots(pair, 1e-3, delta * 1e-12), count}};
  const Plan plan = plan_for(components, guess, std::log(delta));
  const double step = plan.width / double(window_points(plan.width, 5e-5));
  components = {{connect_dots(pair, step, delta * 1e-12), count}};
  return Composition(components, plan).epsilon(delta);
}

TEST(Pld, KnowsBothDirections) {
  EXPECT_NEAR(one_direction(RemovePair{.01, 1}, 1000, 1e-5, 2), 1.828237, 4e-6);
  EXPECT_NEAR(one_direction(AddPair{.01, 1}, 1000, 1e-5, 1.42), 1.416662, 4e-6);
  EXPECT_NEAR(one_direction(RemovePair{.005, .8}, 1000, 1e-6, 2), 2.004106, 4e-6);
  EXPECT_NEAR(one_direction(AddPair{.005, .8}, 1000, 1e-6, 1.06), 1.053944, 4e-6);
}

TEST(Pld, OfGaussiansOnAGridIsTheExactCurveOnTheSafeSide) {
  for (double mu : {.01, .2, 1., 6.})
    for (double delta : {.1, 1e-5, 1e-30, 1e-200}) {
      const double exact = gdp_epsilon(mu * std::sqrt(20), *Delta::make(delta));
      const double width = mu * std::sqrt(20);
      Components components = {{connect_dots(GaussianPair{mu}, mu / 100, delta * 1e-12), 20}};
      const Plan plan = plan_for(components, exact, std::log(delta));
      const double step = plan.width / double(window_points(plan.width, mu / 2000));
      components = {{connect_dots(GaussianPair{mu}, step, delta * 1e-12), 20}};
      const double found = Composition(components, plan).epsilon(delta);
      EXPECT_GE(found, exact * (1 - 1e-12)) << mu << " " << delta;
      EXPECT_LE(found, exact + 1e-5 * std::max(exact, width)) << mu << " " << delta;
    }
}

// Randomized response, T times: k of T answers are the likely ones, with loss (2k - T) eps.
double response_delta(double each, double delta_each, int times, double epsilon) {
  const double likely = 1 / (1 + std::exp(-each));
  double sum = 0;
  for (int k = 0; k <= times; ++k) {
    const double loss = (2 * k - times) * each;
    const double log_mass = std::lgamma(times + 1) - std::lgamma(k + 1) -
                            std::lgamma(times - k + 1) + k * std::log(likely) +
                            (times - k) * std::log1p(-likely);
    if (loss > epsilon) sum += std::exp(log_mass) * -std::expm1(epsilon - loss);
  }
  const double finite = std::pow(1 - delta_each, times);
  return 1 - finite + finite * sum;
}

TEST(Pld, OfWhatIsOnlyKnownAsEpsilonAndDeltaIsTheBinomialSum) {
  for (int times : {1, 2, 7, 60})
    for (double each : {.01, .3, 2.})
      for (double own : {0., 1e-8})
        for (double part : {0., .1, .4, .8}) {
          const double epsilon = part * each * times;
          const double exact = response_delta(each, own, times, epsilon);
          const double found =
              delta_of_list({{ApproximateEvent{each, own}, uint64_t(times)}}, epsilon);
          EXPECT_GE(found, exact * (1 - 1e-11)) << times << " " << each << " " << part;
          EXPECT_LE(found, exact * (1 + 1e-5)) << times << " " << each << " " << part;
        }
}

// The closed forms of one release.
TEST(Pld, OfOneReleaseIsItsClosedForm) {
  for (double b : {.02, .5, 3., 1000.})
    for (double part : {0., .3, .9}) {
      const double epsilon = part / b, exact = -std::expm1((epsilon - 1 / b) / 2);
      const double found = delta_of_list({{LaplaceEvent{b}, 1}}, epsilon);
      EXPECT_GE(found, exact * (1 - 1e-12));
      EXPECT_LE(found, exact * (1 + 1e-5)) << b << " " << part;
    }
  for (double q : {.01, .5, .99})
    for (double sigma : {.3, 1., 20.})
      for (double epsilon : {.001, .1, 1., 3.}) {  // removing; adding is smaller
        const double exact = q * gdp_delta(1 / sigma, std::log1p(std::expm1(epsilon) / q));
        if (exact < 1e-100) continue;
        const double found = delta_of_list({{SampledGaussianEvent{q, sigma}, 1}}, epsilon);
        EXPECT_GE(found, exact * (1 - 1e-8)) << q << " " << sigma << " " << epsilon;
        EXPECT_LE(found, exact * (1 + 1e-4)) << q << " " << sigma << " " << epsilon;
      }
}

/// delta of two independent releases, by all pairs of outcomes.
double enumerated(const std::vector<Atom>& atoms, double epsilon) {
  double sum = 0;
  for (const Atom& a : atoms)
    for (const Atom& b : atoms) sum += std::max(0.0, a.p * b.p - std::exp(epsilon) * a.q * b.q);
  return sum;
}

TEST(Pld, OfDiscreteNoiseIsTheSumOverAllOutcomes) {
  for (double sigma : {.7, 3.})
    for (double shift : {1., 3.}) {
      std::vector<Atom> gaussian, laplace;
      double total = 0, t = 2 * sigma;
      for (int k = -200; k <= 200; ++k) total += std::exp(-k * k / (2 * sigma * sigma));
      for (int k = -250; k <= 250; ++k) {
        const double moved = k - shift, z = std::tanh(.5 / t);
        gaussian.push_back({0, std::exp(-k * k / (2 * sigma * sigma)) / total,
                            std::exp(-moved * moved / (2 * sigma * sigma)) / total});
        laplace.push_back({0, z * std::exp(-std::abs(k) / t), z * std::exp(-std::abs(moved) / t)});
      }
      for (double epsilon : {.1, .5, 1.}) {
        const double normal = enumerated(gaussian, epsilon), sided = enumerated(laplace, epsilon);
        const double found = delta_of_list({{DiscreteGaussianEvent{sigma, shift}, 2}}, epsilon);
        EXPECT_GE(found, normal * (1 - 1e-11));
        EXPECT_LE(found, normal * (1 + 1e-4)) << sigma << " " << shift << " " << epsilon;
        const double other = delta_of_list({{DiscreteLaplaceEvent{t, shift}, 2}}, epsilon);
        EXPECT_GE(other, sided * (1 - 1e-11));
        EXPECT_LE(other, sided * (1 + 1e-5) + 1e-12) << sigma << " " << shift << " " << epsilon;
      }
    }
}

TEST(Pld, OfWideDiscreteLaplaceNoiseIsThatOfContinuousNoise) {
  const double scale = 0x1p40, sensitivity = 0x1p37;
  const double discrete = epsilon_of_list({{DiscreteLaplaceEvent{scale, sensitivity}, 50}}, 1e-6);
  EXPECT_NEAR(discrete, epsilon_of_list({{LaplaceEvent{8}, 50}}, 1e-6), 1e-9);
}

TEST(Pld, IsAtMostRdpWhichIsAtMostBasic) {
  for (double b : {.5, 3., 40.})
    for (uint64_t count : {1u, 5u, 200u})
      for (double delta : {1e-2, 1e-6, 1e-12}) {
        const Events events = {{LaplaceEvent{b}, count}};
        const Delta d = *Delta::make(delta);
        const double pld = *pld_epsilon(events, d, kAddRemove);
        const double rdp = *rdp_epsilon(events, d, kAddRemove);
        EXPECT_LE(pld, rdp * (1 + 1e-6)) << b << " " << count << " " << delta;
        EXPECT_LE(rdp, *basic_epsilon(events, d) * (1 + 5e-4)) << b << " " << count << " " << delta;
      }
  for (double q : {.001, .05, .5})
    for (double sigma : {.5, 2.}) {
      const Events events = {{SampledGaussianEvent{q, sigma}, 50}};
      EXPECT_LE(*pld_epsilon(events, Delta{1e-6}, kAddRemove),
                *rdp_epsilon(events, Delta{1e-6}, kAddRemove));
      EXPECT_LE(*pld_epsilon(events, Delta{1e-6}, Adjacency::kReplaceOne),
                *rdp_epsilon(events, Delta{1e-6}, Adjacency::kReplaceOne));
    }
}

TEST(Pld, GrowsWithReleasesAndFallsWithNoise) {
  double before = 0;
  for (uint64_t count : {1u, 2u, 10u, 100u, 1000u, 30'000u}) {
    const double now = epsilon_of_list({{SampledGaussianEvent{.01, 1}, count}}, 1e-6);
    EXPECT_GT(now, before);
    before = now;
  }
  before = 1e9;
  for (double sigma : {.4, .6, 1., 3., 30., 300.}) {
    const double now = epsilon_of_list({{SampledGaussianEvent{.01, sigma}, 100}}, 1e-6);
    EXPECT_LT(now, before);
    before = now;
  }
}

TEST(Pld, DoesNotDependOnTheOrderOfEvents) {
  const Repeated a{SampledGaussianEvent{.05, 1.2}, 10}, b{LaplaceEvent{10}, 5};
  const Repeated c{GaussianEvent{8}, 20}, d{LaplaceEvent{30}, 50};
  const double one = epsilon_of_list({a, b, c, d}, 1e-5);
  EXPECT_NEAR(epsilon_of_list({d, c, b, a}, 1e-5), one, 1e-9);
  EXPECT_NEAR(epsilon_of_list({b, d, a, c}, 1e-5), one, 1e-9);
}

// Other implementations return NaN, run out of memory or time, or fail beyond epsilon 10.
TEST(Pld, AnswersEveryEpsilonFromAThousandthToAThousand) {
  for (double target = 1e-3; target < 1.1e3; target *= 10) {
    const double b = 20 / target * 1.5;  // basic: target / 1.5
    const double laplace = epsilon_of_list({{LaplaceEvent{b}, 20}}, 1e-6);
    EXPECT_GT(laplace, 0);
    EXPECT_LE(laplace, target / 1.5 * (1 + 1e-5));
    for (double delta : {1e-2, 1e-6, 1e-12})
      for (double q : {1e-3, .3}) {
        const double sigma = std::max(.05, 2 / target);
        const double found = epsilon_of_list({{SampledGaussianEvent{q, sigma}, 10}}, delta);
        EXPECT_TRUE(std::isfinite(found)) << target << " " << delta << " " << q;
        const double above =
            *rdp_epsilon({{SampledGaussianEvent{q, sigma}, 10}}, *Delta::make(delta), kAddRemove);
        EXPECT_LE(found, above * (1 + 1e-6)) << target << " " << delta << " " << q;
      }
  }
}

TEST(Pld, EpsilonAndDeltaAreInversesOfEachOther) {
  const Events events = {{SampledGaussianEvent{.02, 1.1}, 300}, {LaplaceEvent{20}, 30}};
  for (double delta : {1e-2, 1e-5, 1e-10, 1e-40}) {
    const double epsilon = epsilon_of_list(events, delta);
    EXPECT_NEAR(delta_of_list(events, epsilon) / delta, 1, 1e-3) << delta;
  }
}

TEST(Pld, IsLooserWithFewerPointsNeverTighter) {
  const Events events = {{SampledGaussianEvent{.01, 1}, 1000}};
  double before = epsilon_of_list(events, 1e-5);
  for (size_t points : {size_t{1} << 16, size_t{1} << 13, size_t{1} << 10}) {
    const double now =
        *pld_epsilon(events, Delta{1e-5}, kAddRemove, {.relative = 1e-9, .points_max = points});
    EXPECT_GE(now, before * (1 - 1e-6)) << points;
    before = now;
  }
  EXPECT_LT(before, 3) << "still a useful bound";
}

// G3 in lattice units, as ledgers have it: above the exact value of continuous noise, by little.
TEST(Pld, OfWideDiscreteGaussianNoiseIsThatOfContinuousNoiseAndTheirDistance) {
  for (int bits : {24, 30, 40}) {
    const Events events = {{DiscreteGaussianEvent{std::ldexp(1, bits), std::ldexp(.2, bits)}, 20}};
    const double found = *pld_epsilon(events, Delta{1e-5}, Adjacency::kReplaceOne);
    const double distance = 20 * 4096 * 2 * 50 * 50 / (8 * std::ldexp(1, 2 * bits));
    EXPECT_GE(found, 3.84861028253798);
    EXPECT_LE(found, 3.84861028253798 * (1 + 1e-13) + distance) << bits;
    EXPECT_NEAR(*pld_delta(events, found, Adjacency::kReplaceOne), 1e-5, 1e-5 * 100 * distance);
    Events mixed = events;
    mixed.push_back({LaplaceEvent{10}, 5});
    const double both = epsilon_of_list({{GaussianEvent{5}, 20}, {LaplaceEvent{10}, 5}}, 1e-5);
    EXPECT_GE(epsilon_of_list(mixed, 1e-5), both * (1 - 1e-9));
    EXPECT_LE(epsilon_of_list(mixed, 1e-5), both * (1 + 1e-6) + distance) << bits;
  }
}

// One coordinate at the edge of what is put on a grid, where both ways are known.
TEST(Pld, OfNoiseJustWideEnoughMeetsThatOfItsLossesOneByOne) {
  const double shift = std::floor(0x1p20 / 4);
  const double counted = epsilon_of_list({{DiscreteGaussianEvent{0x1p20, shift}, 3}}, 1e-6);
  const double wide = epsilon_of_list({{DiscreteGaussianEvent{0x1p20 + 1, shift}, 3}}, 1e-6);
  EXPECT_NEAR(wide, counted, 1e-5 * counted);
}

TEST(Pld, SaysWhatItCannotDo) {
  EXPECT_FALSE(pld_epsilon({{ZcdpEvent{.1, 0}, 1}}, Delta{1e-5}, kAddRemove));
  EXPECT_FALSE(pld_epsilon({{DiscreteGaussianEvent{100, 1.5}, 1}}, Delta{1e-5}, kAddRemove))
      << "several coordinates";
  EXPECT_FALSE(pld_epsilon({{SkellamEvent{100, 1, 1}, 1}}, Delta{1e-5}, kAddRemove));
}

}  // namespace pld_test
}  // namespace parley::privacy
