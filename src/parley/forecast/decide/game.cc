#include "parley/forecast/decide/game.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace parley::forecast {

Tally& Tally::operator+=(const Tally& other) {
  owners += other.owners, rows += other.rows, loud += other.loud, inverse += other.inverse;
  inverse_loud += other.inverse_loud, inverse_sampling += other.inverse_sampling;
  inverse_rows += other.inverse_rows, strictest = std::max(strictest, other.strictest);
  squares += other.squares, inverse_squares += other.inverse_squares;
  inverse_share += other.inverse_share;
  return *this;
}

Tally& Tally::operator-=(const Tally& other) {
  owners -= other.owners, rows -= other.rows, loud -= other.loud, inverse -= other.inverse;
  inverse_loud -= other.inverse_loud, inverse_sampling -= other.inverse_sampling;
  inverse_rows -= other.inverse_rows;
  squares -= other.squares, inverse_squares -= other.inverse_squares;
  inverse_share -= other.inverse_share;
  return *this;
}

Game::Game(Response response, double spread, double alone, GameWeights weights, double variance,
           GameNoise noise)
    : response_(std::move(response)),
      spread_(spread),
      alone_(alone),
      gain_(response_.gain(variance)),
      weights_(weights),
      noise_(noise) {}

double Game::distance(const Player& player) const {
  return gain_ * player.variance + spread_ / player.rows;
}

Tally Game::of(const Player& player) const {
  const double n = player.rows, d = distance(player);
  const double loud = n * n * player.variance;
  return {1,
          n,
          loud,
          1 / d,
          player.variance / (d * d),
          1 / (n * d * d),
          1 / n,
          weights_ == GameWeights::kRows ? loud : player.variance,
          n * n,
          1 / (d * d),
          n / d};
}

Tally Game::of(std::span<const Player> players) const {
  Tally all;
  for (const Player& player : players) all += of(player);
  return all;
}

std::vector<Tally> Game::without_each(std::span<const Player> players) const {
  std::vector<Tally> without(players.size());
  Tally before, after;
  for (size_t i = 0; i < players.size(); ++i) {
    without[i] += before;
    before += of(players[i]);
  }
  for (size_t i = players.size(); i-- > 0;) {
    without[i] += after;
    after += of(players[i]);
  }
  return without;
}

/// Of weights by rows or all alike.
double Game::noise_of(const Tally& group) const {
  const auto owners = static_cast<double>(group.owners);
  if (weights_ == GameWeights::kAlike) return group.strictest / (owners * owners);
  return (noise_ == GameNoise::kSum ? group.loud : group.strictest) / (group.rows * group.rows);
}

void Game::owners_differ(double differ, std::span<const Player> players) {
  differ_ = differ;
  all_ = of(players);
}

/// Of all of them nothing, whatever their rows are: what other weights than by rows cost is the
/// forecast's own (joint.h).
double Game::unlike(const Tally& group) const {
  if (differ_ == 0 || group.owners == all_.owners) return 0;
  const auto owners = static_cast<double>(group.owners);
  const double n = all_.rows;
  double own = 0, both = 0;  // sums of v^2 and of v w
  switch (weights_) {
    case GameWeights::kRows:
      own = group.squares / (group.rows * group.rows), both = group.squares / (group.rows * n);
      break;
    case GameWeights::kAlike:
      own = 1 / owners, both = group.rows / (owners * n);
      break;
    case GameWeights::kOptimal:
      own = group.inverse_squares / (group.inverse * group.inverse);
      both = group.inverse_share / (group.inverse * n);
  }
  return differ_ * (own - 2 * both + all_.squares / (n * n));
}

double Game::reached(const Tally& group) const {
  if (group.owners == 0) return std::numeric_limits<double>::infinity();
  const auto owners = static_cast<double>(group.owners);
  if (weights_ == GameWeights::kRows)
    return response_.at(noise_of(group)) + spread_ / group.rows + unlike(group);
  if (weights_ == GameWeights::kAlike)
    return response_.at(noise_of(group)) + spread_ * group.inverse_rows / (owners * owners) +
           unlike(group);
  const double square = group.inverse * group.inverse;
  return response_.at(group.inverse_loud / square) + spread_ * group.inverse_sampling / square +
         unlike(group);
}

double Game::psi(const Tally& group) const { return std::min(alone_, reached(group)); }

std::vector<double> Game::weights(std::span<const Player> players) const {
  const Tally all = of(players);
  std::vector<double> weights;
  for (const Player& player : players)
    weights.push_back(weights_ == GameWeights::kRows    ? player.rows / all.rows
                      : weights_ == GameWeights::kAlike ? 1 / static_cast<double>(all.owners)
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
