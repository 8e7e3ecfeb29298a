#include "parley/forecast/decide/market.h"

#include <gtest/gtest.h>

#include <cmath>

namespace parley::forecast {
namespace market_test {

const std::vector<double> kPrices = {1, 2, 8};

TEST(Market, MatchesTheGoldenByValue) {  // G13: V K = 4e6, n = 3e5
  const auto epsilon = epsilon_by_value(kPrices, 1, 4e6 / 9e10);
  const double golden[] = {0.0446288633388, 0.0354219523061, 0.0223144316694};
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(epsilon[i], golden[i], 1e-12);
}

TEST(Market, MatchesTheGoldenByTarget) {  // G13: K = 1e8, n = 3e5
  const double k = 1e8 / 9e10;
  const auto epsilon = epsilon_by_target(kPrices, 1e-3, k);
  const double golden[] = {2.7054268613635, 2.1472987228757, 1.3527134306817};
  double noise = 0;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(epsilon[i], golden[i], 1e-12);
    noise += k / (epsilon[i] * epsilon[i]);
  }
  EXPECT_NEAR(noise, 1e-3, 1e-15);
}

/// What an owner whose price is really `cost` keeps if it names `bid`.
template <class Epsilon, class Payments>
double utility(double cost, double bid, const Epsilon& epsilon, const Payments& payments) {
  const std::vector<double> prices = {bid, 2, 8};
  return payments(prices)[0] - cost * epsilon(prices)[0];
}

TEST(Market, TheTruthPaysBestForAFixedGroup) {
  const double k = 1e8 / 9e10, cap = 20;
  const auto value = [&](double bid) {
    return utility(
        3, bid, [&](const auto& c) { return epsilon_by_value(c, 50, k); },
        [&](const auto& c) { return payments_by_value(c, 50, k, cap); });
  };
  const auto target = [&](double bid) {
    return utility(
        3, bid, [&](const auto& c) { return epsilon_by_target(c, 1e-3, k); },
        [&](const auto& c) { return payments_by_target(c, 1e-3, k, cap); });
  };
  for (const double lie : {.5, 1.0, 2.5, 2.9, 3.1, 4.0, 8.0, 19.0}) {
    EXPECT_LT(value(lie), value(3));
    EXPECT_LT(target(lie), target(3));
  }
}

const Demand kDemand{
    .value = 1e3, .floor = 1e-3, .spread = 10, .gain = 1e7, .alone = .5, .price_cap = 50};

/// Rows are so scarce that everybody's are wanted.
const Demand kScarce{
    .value = 1e3, .floor = 1e-3, .spread = 1e5, .gain = 1e7, .alone = 50, .price_cap = 50};

TEST(Market, BuysWhatTheClosedFormSaysWhenNobodyIsLeftOut) {
  const std::vector<Bid> bids = {{1e5, 1, 1e3}, {1e5, 2, 1e3}, {1e5, 8, 1e3}};
  const Deal deal = buy(kScarce, bids);
  const double k = kScarce.gain / 9e10;
  const auto epsilon = epsilon_by_value(kPrices, kScarce.value, k);
  const auto payments = payments_by_value(kPrices, kScarce.value, k, kScarce.price_cap);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(deal.epsilon[i], epsilon[i], 1e-12);
    // The closed form is the case in which everybody stays up to the cap; who would drop out
    // before gets less.
    EXPECT_LE(deal.payments[i], payments[i] * (1 + 1e-6));
    EXPECT_GE(deal.payments[i], bids[i].price * deal.epsilon[i]);
  }
}

TEST(Market, PaysTheClosedFormWhereTheGroupStaysTheSame) {
  const std::vector<Bid> bids = {{1e5, 1, 1e3}, {1e5, 2, 1e3}};
  Demand demand = kScarce;
  demand.price_cap = 3;  // too low for anyone to drop out
  const Deal deal = buy(demand, bids);
  const auto payments =
      payments_by_value(std::vector<double>{1, 2}, demand.value, demand.gain / 4e10, 3);
  for (size_t i = 0; i < 2; ++i) EXPECT_NEAR(deal.payments[i], payments[i], 1e-6 * payments[i]);
}

TEST(Market, TheTruthPaysBestAlsoWhenGroupsChange) {
  const auto kept = [&](double bid) {
    const Deal deal = buy(kDemand, std::vector<Bid>{{1e5, bid, 5}, {5e4, 2, 5}, {2e4, 30, 5}});
    return deal.payments[0] - 3 * deal.epsilon[0];
  };
  for (const double lie : {1.0, 2.0, 5.0, 12.0, 40.0}) EXPECT_LE(kept(lie), kept(3) + 1e-5);
}

TEST(Market, LeavesOutWhomTheRowsDoNotJustify) {
  const Deal deal = buy(kDemand, std::vector<Bid>{{1e5, 1, 1e3}, {1e3, 49, .01}});
  EXPECT_GT(deal.epsilon[0], 0);
  EXPECT_EQ(deal.epsilon[1], 0);
  EXPECT_EQ(deal.payments[1], 0);
}

TEST(Market, ManyOwnersAreTakenByRows) {
  std::vector<Bid> bids;
  for (int i = 0; i < 20; ++i) bids.push_back({1e3 * (i + 1), 1, 100});
  const Deal deal = buy(kDemand, bids);
  EXPECT_GT(deal.epsilon[19], 0);
  EXPECT_GT(deal.surplus, 0);
}

TEST(Market, NegotiationComesToTheSameInOnePass) {
  const std::vector<Bid> bids = {{1e5, 1, 1e3}, {1e5, 2, 1e3}, {1e5, 8, .3}};
  const auto found = negotiate(kDemand, bids);
  const auto closed = epsilon_by_value(kPrices, kDemand.value, kDemand.gain / 9e10);
  EXPECT_NEAR(found[0], closed[0], 1e-9);
  EXPECT_NEAR(found[1], closed[1], 1e-9);
  EXPECT_NEAR(found[2], .3, 1e-9);  // It sells no more.
}

}  // namespace market_test
}  // namespace parley::forecast
