#include "parley/forecast/decide/game.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace parley::forecast {

Tally& Tally::operator+=(const Tally& other) {
  owners += other.owners, rows += other.rows, loud += other.loud, inverse += other.inverse;
  inverse_loud += other.inverse_loud, inverse_sampling += other.inverse_sampling;
  return *this;
}

Tally& Tally::operator-=(const Tally& other) {
  owners -= other.owners, rows -= other.rows, loud -= other.loud, inverse -= other.inverse;
  inverse_loud -= other.inverse_loud, inverse_sampling -= other.inverse_sampling;
  return *this;
}

Game::Game(Response response, double spread, double alone, GameWeights weights, double variance)
    : response_(std::move(response)),
      spread_(spread),
      alone_(alone),
      gain_(response_.gain(variance)),
      weights_(weights) {}

double Game::distance(const Player& player) const {
  return gain_ * player.variance + spread_ / player.rows;
}

Tally Game::of(const Player& player) const {
  const double n = player.rows, d = distance(player);
  return {1, n, n * n * player.variance, 1 / d, player.variance / (d * d), 1 / (n * d * d)};
}

Tally Game::of(std::span<const Player> players) const {
  Tally all;
  for (const Player& player : players) all += of(player);
  return all;
}

double Game::reached(const Tally& group) const {
  if (group.owners == 0) return std::numeric_limits<double>::infinity();
  if (weights_ == GameWeights::kRows)
    return response_.at(group.loud / (group.rows * group.rows)) + spread_ / group.rows;
  const double square = group.inverse * group.inverse;
  return response_.at(group.inverse_loud / square) + spread_ * group.inverse_sampling / square;
}

double Game::psi(const Tally& group) const { return std::min(alone_, reached(group)); }

std::vector<double> Game::weights(std::span<const Player> players) const {
  const Tally all = of(players);
  std::vector<double> weights;
  for (const Player& player : players)
    weights.push_back(weights_ == GameWeights::kRows ? player.rows / all.rows
                                                     : 1 / distance(player) / all.inverse);
  return weights;
}

double Game::variance_for(const Tally& others, Player player, double psi) const {
  const auto joined = [&](double variance) {
    Tally group = others;
    player.variance = variance;
    group += of(player);
    return reached(group);
  };
  if (joined(0) > psi) return 0;
  double low = -700, high = 700;  // of log(variance)
  if (joined(std::exp(high)) <= psi) return std::numeric_limits<double>::infinity();
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (joined(std::exp(middle)) <= psi ? low : high) = middle;
  }
  return std::exp(low);
}

}  // namespace parley::forecast
