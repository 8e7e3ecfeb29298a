#include "parley/forecast/decide/game.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/learn/schedule/weights.h"

namespace parley::forecast {
namespace coalitions_test {

/// G17's owners: noise K / (n eps)^2, spread 10 / n, floor 1e-3, 5.8 without anyone.
std::vector<Player> golden_players() {
  std::vector<Player> players;
  const double rows[] = {1e5, 3e4, 1e4, 1e4, 1e3}, epsilon[] = {1, 1, 10, .1, .1};
  for (int i = 0; i < 5; ++i) players.push_back({rows[i], 1e7 / std::pow(rows[i] * epsilon[i], 2)});
  return players;
}

Game golden_game(GameWeights weights) { return Game(Response::line(1e-3, 1), 10, 5.8, weights, 1); }

TEST(Shapley, MatchesTheGoldenWithWeightsByRows) {  // G17
  const auto shares = shapley(golden_game(GameWeights::kRows), golden_players());
  const double golden[] = {2.6998429163, 2.255714823, 1.4160535653, -0.16531731458, -0.49595720655};
  for (size_t i = 0; i < 5; ++i) EXPECT_NEAR(shares[i].value, golden[i], 1e-9);
}

TEST(Shapley, MatchesTheGoldenWithOptimalWeights) {  // G17
  const auto shares = shapley(golden_game(GameWeights::kOptimal), golden_players());
  const double golden[] = {1.9349321103, 1.9292657494, 1.9341327527, 1.1813947218e-06,
                           1.1817486862e-08};
  for (size_t i = 0; i < 5; ++i) EXPECT_NEAR(shares[i].value, golden[i], 1e-9);
}

TEST(Coalitions, BestOnesAreTheGolden) {  // G17
  EXPECT_EQ(best_coalition(golden_game(GameWeights::kRows), golden_players()).members,
            (std::vector<size_t>{0, 2}));
  EXPECT_EQ(best_coalition(golden_game(GameWeights::kOptimal), golden_players()).members.size(),
            5u);
}

// With optimal weights nobody does harm: whoever is left out could have counted for nothing.
TEST(Coalitions, WithOptimalWeightsEverybodyIsAlwaysBest) {
  std::vector<Player> players;
  for (int i = 0; i < 9; ++i)
    players.push_back({1e3 * std::pow(2.7, i % 5), std::pow(10.0, -2 - i % 4)});
  EXPECT_EQ(best_coalition(golden_game(GameWeights::kOptimal), players).members.size(), 9u);
}

TEST(Shapley, AddsUpToWhatAllBringAlsoWhenSampled) {
  std::vector<Player> players;
  for (int i = 0; i < 40; ++i)
    players.push_back({1e3 + 250.0 * i, 1e7 / std::pow((1e3 + 250 * i) * (i % 3 + .5), 2)});
  const Game game = golden_game(GameWeights::kRows);
  double sum = 0;
  for (const Share& share : shapley(game, players)) {
    EXPECT_GT(share.standard_error, 0);
    sum += share.value;
  }
  EXPECT_NEAR(sum, game.alone() - game.psi(game.of(players)), 1e-9);
}

// Six standard errors for each of 15 owners: a fresh seed fails with probability below 1e-6.
TEST(Shapley, SampledIsWithinItsErrorsOfTheExact) {
  std::vector<Player> fifteen;
  for (int i = 0; i < 15; ++i)
    fifteen.push_back({1e3 + 900.0 * i, 1e7 / std::pow((1e3 + 900 * i) * (i % 4 + .3), 2)});
  const Game game = golden_game(GameWeights::kRows);
  const auto exact = shapley(game, fifteen);
  auto sixteen = fifteen;
  sixteen.push_back({1e-6, 1e-9});  // hardly there, but one too many to enumerate
  const auto sampled = shapley(game, sixteen);
  for (size_t i = 0; i < 15; ++i)
    EXPECT_NEAR(sampled[i].value, exact[i].value, 6 * sampled[i].standard_error + 1e-6);
}

TEST(Coalitions, GreedyFindsWhatEnumerationFinds) {
  auto players = golden_players();
  const double best = best_coalition(golden_game(GameWeights::kRows), players).psi;
  while (players.size() < 20) players.push_back({10, 1e3});  // useless, so the best stays
  const auto found = best_coalition(golden_game(GameWeights::kRows), players);
  EXPECT_NEAR(found.psi, best, 1e-12);
  EXPECT_EQ(found.members, (std::vector<size_t>{0, 2}));
}

Game strictest_game() {
  return Game(Response::line(1e-3, 1), 10, 5.8, GameWeights::kRows, 1, GameNoise::kStrictest);
}

// In a secure sum of n rows everyone adds what the strictest needs, n_i^2 variance_i / n^2.
TEST(Game, OfASecureSumHasTheNoiseOfTheStrictest) {
  const std::vector<Player> players = {{1000, 4}, {3000, 1}};
  const Game game = strictest_game();
  EXPECT_NEAR(game.reached(game.of(players)), 1e-3 + 9e6 / 16e6 + 10.0 / 4000, 1e-12);
  EXPECT_NEAR(game.reached(game.without_each(players)[1]), 1e-3 + 4 + 10.0 / 1000, 1e-12);
}

// By hand: owners of 1, 1 and 2 thousand rows; the first two have weights 1/2 and 1/2 where their
// shares are 1/4, 1/4, and the third's is 1/2.
TEST(Game, OfOwnersThatDifferAGroupMissesTheOthers) {
  const std::vector<Player> players = {{1000, 1}, {1000, 1}, {2000, 1}};
  for (const auto weights : {GameWeights::kRows, GameWeights::kAlike, GameWeights::kOptimal}) {
    Game game(Response::line(1e-3, 1), 10, 5.8, weights, 1);
    const GroupTotals two = game.without_each(players)[2], all = game.of(players);
    const double alike = game.reached(two), everyone = game.reached(all);
    const auto shares = shapley(game, players);
    game.owners_differ(.1, players);
    EXPECT_NEAR(game.reached(two) - alike, .1 * (1. / 16 + 1. / 16 + 1. / 4), 1e-12);
    EXPECT_EQ(game.reached(all), everyone);
    EXPECT_GT(shapley(game, players)[2].value, shares[2].value) << "it is needed more";
  }
}

TEST(Coalitions, OfASecureSumAreAllUpToSomeStrictness) {
  std::vector<Player> players;  // more than are enumerated, of three kinds
  for (int i = 0; i < 16; ++i)
    players.push_back({1e4, i % 4 == 0 ? 1e2 : i % 2 == 0 ? 1e-3 : 1e-4});
  const Coalition found = best_coalition(strictest_game(), players);
  std::vector<Player> few(players.begin(), players.begin() + 12);
  const Coalition enumerated = best_coalition(strictest_game(), few);
  for (const size_t i : found.members) EXPECT_NE(i % 4, 0u);
  for (const size_t i : enumerated.members) EXPECT_NE(i % 4, 0u);
  EXPECT_EQ(found.members.size(), 12u);
  EXPECT_EQ(enumerated.members.size(), 9u);
}

TEST(Game, WeightsAreThoseTheLearnerWouldUse) {
  const auto players = golden_players();
  std::vector<learn::OwnerError> errors;
  for (const Player& player : players)
    errors.push_back({player.rows, player.variance, 10 / player.rows});
  const auto expected = learn::optimal_weights(errors);
  const auto found = golden_game(GameWeights::kOptimal).weights(players);
  for (size_t i = 0; i < players.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12);
}

TEST(Game, FindsTheNoiseAtWhichAGroupReachesATarget) {
  for (const auto weights : {GameWeights::kRows, GameWeights::kOptimal}) {
    const Game game = golden_game(weights);
    auto players = golden_players();
    const GroupTotals others = game.of(std::span(players).subspan(1));
    GroupTotals quiet = others;
    quiet += game.of(Player{players[0].rows, 0});
    const double psi = game.reached(quiet) * 1.5;
    players[0].variance = game.variance_for(others, players[0], psi);
    GroupTotals all = others;
    all += game.of(players[0]);
    EXPECT_NEAR(game.reached(all), psi, 1e-9 * psi);
    EXPECT_EQ(game.variance_for(others, players[0], game.reached(quiet) * .9), 0);
  }
}

}  // namespace coalitions_test
}  // namespace parley::forecast
