#include "parley/forecast/decide/game.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "parley/base/math/seeded_random.h"
#include "parley/base/result.h"

namespace parley::forecast {

GroupTotals& GroupTotals::operator+=(const GroupTotals& other) {
  owners += other.owners, rows += other.rows, noise += other.noise, inverse += other.inverse;
  inverse_noise += other.inverse_noise, inverse_sampling += other.inverse_sampling;
  inverse_rows += other.inverse_rows, strictest = std::max(strictest, other.strictest);
  squares += other.squares, inverse_squares += other.inverse_squares;
  inverse_share += other.inverse_share;
  return *this;
}

GroupTotals& GroupTotals::operator-=(const GroupTotals& other) {
  owners -= other.owners, rows -= other.rows, noise -= other.noise, inverse -= other.inverse;
  inverse_noise -= other.inverse_noise, inverse_sampling -= other.inverse_sampling;
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

GroupTotals Game::of(const Player& player) const {
  const double n = player.rows, d = distance(player);
  const double noise = n * n * player.variance;
  return {1,
          n,
          noise,
          1 / d,
          player.variance / (d * d),
          1 / (n * d * d),
          1 / n,
          weights_ == GameWeights::kRows ? noise : player.variance,
          n * n,
          1 / (d * d),
          n / d};
}

GroupTotals Game::of(std::span<const Player> players) const {
  GroupTotals all;
  for (const Player& player : players) all += of(player);
  return all;
}

std::vector<GroupTotals> Game::without_each(std::span<const Player> players) const {
  std::vector<GroupTotals> without(players.size());
  GroupTotals before, after;
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

/// For weights by rows or equal weights.
double Game::noise_of(const GroupTotals& group) const {
  const auto owners = static_cast<double>(group.owners);
  if (weights_ == GameWeights::kAlike) return group.strictest / (owners * owners);
  return (noise_ == GameNoise::kSum ? group.noise : group.strictest) / (group.rows * group.rows);
}

void Game::owners_differ(double differ, std::span<const Player> players) {
  differ_ = differ;
  all_ = of(players);
}

/// 0 for all owners together: the cost of weights other than by rows is counted in joint.cc.
double Game::unlike(const GroupTotals& group) const {
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

double Game::reached(const GroupTotals& group) const {
  if (group.owners == 0) return std::numeric_limits<double>::infinity();
  const auto owners = static_cast<double>(group.owners);
  if (weights_ == GameWeights::kRows)
    return response_.at(noise_of(group)) + spread_ / group.rows + unlike(group);
  if (weights_ == GameWeights::kAlike)
    return response_.at(noise_of(group)) + spread_ * group.inverse_rows / (owners * owners) +
           unlike(group);
  const double square = group.inverse * group.inverse;
  return response_.at(group.inverse_noise / square) + spread_ * group.inverse_sampling / square +
         unlike(group);
}

double Game::psi(const GroupTotals& group) const { return std::min(alone_, reached(group)); }

std::vector<double> Game::weights(std::span<const Player> players) const {
  const GroupTotals all = of(players);
  std::vector<double> weights;
  for (const Player& player : players)
    weights.push_back(weights_ == GameWeights::kRows    ? player.rows / all.rows
                      : weights_ == GameWeights::kAlike ? 1 / static_cast<double>(all.owners)
                                                        : 1 / distance(player) / all.inverse);
  return weights;
}

double Game::variance_for(const GroupTotals& others, Player player, double psi) const {
  const auto joined = [&](double variance) {
    GroupTotals group = others;
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

namespace {

std::vector<GroupTotals> tallies(const Game& game, std::span<const Player> players) {
  std::vector<GroupTotals> all;
  for (const Player& player : players) all.push_back(game.of(player));
  return all;
}

/// The totals of every subset: bit i is owner i.
std::vector<GroupTotals> all_groups(const Game& game, std::span<const Player> players) {
  const auto one = tallies(game, players);
  std::vector<GroupTotals> groups(size_t{1} << players.size());
  for (size_t mask = 1; mask < groups.size(); ++mask) {
    groups[mask] = groups[mask & (mask - 1)];
    groups[mask] += one[static_cast<size_t>(std::countr_zero(mask))];
  }
  return groups;
}

Coalition best_of_all(const Game& game, std::span<const Player> players) {
  const auto groups = all_groups(game, players);
  size_t best = 1;
  for (size_t mask = 2; mask < groups.size(); ++mask)
    if (game.reached(groups[mask]) < game.reached(groups[best])) best = mask;
  Coalition found{{}, game.reached(groups[best])};
  for (size_t i = 0; i < players.size(); ++i)
    if (best >> i & 1) found.members.push_back(i);
  return found;
}

Coalition greedy(const Game& game, std::span<const Player> players) {
  const auto one = tallies(game, players);
  std::vector<size_t> order(players.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto rank = [&](size_t i) { return players[i].rows / std::sqrt(players[i].variance); };
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return std::pair(-rank(a), a) < std::pair(-rank(b), b); });
  std::vector<bool> in(players.size());
  GroupTotals group;
  double best = std::numeric_limits<double>::infinity();
  const auto try_other = [&](size_t i) {  // i in if it is out, out if it is in
    GroupTotals other = group;
    in[i] ? other -= one[i] : other += one[i];
    if (other.owners == 0 || !(game.reached(other) < best)) return false;
    group = other, best = game.reached(other), in[i] = !in[i];
    return true;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t i : order) moved = try_other(i) || moved;
  }
  Coalition found{{}, best};
  for (size_t i = 0; i < players.size(); ++i)
    if (in[i]) found.members.push_back(i);
  return found;
}

/// With noise for the strictest, an owner that needs less noise than a member does no harm.
Coalition by_strictness(const Game& game, std::span<const Player> players) {
  const auto one = tallies(game, players);
  std::vector<size_t> order(players.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(one[a].strictest, a) < std::pair(one[b].strictest, b);
  });
  GroupTotals group;
  Coalition best{{}, std::numeric_limits<double>::infinity()};
  for (size_t k = 0; k < order.size(); ++k) {
    group += one[order[k]];
    if (!(game.reached(group) < best.psi)) continue;
    best.psi = game.reached(group);
    best.members.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k) + 1);
  }
  std::sort(best.members.begin(), best.members.end());
  return best;
}

std::vector<Share> exact_shares(const Game& game, std::span<const Player> players) {
  const size_t n = players.size();
  const auto groups = all_groups(game, players);
  std::vector<double> psi, weight(n);
  for (const GroupTotals& group : groups) psi.push_back(game.psi(group));
  // |S|! (n - 1 - |S|)! / n!
  weight[0] = 1 / static_cast<double>(n);
  for (size_t k = 1; k < n; ++k)
    weight[k] = weight[k - 1] * static_cast<double>(k) / static_cast<double>(n - k);
  std::vector<Share> shares(n);
  for (size_t mask = 0; mask < psi.size(); ++mask)
    for (size_t i = 0; i < n; ++i)
      if (!(mask >> i & 1))
        shares[i].value += weight[static_cast<size_t>(std::popcount(mask))] *
                           (psi[mask] - psi[mask | size_t{1} << i]);
  return shares;
}

/// By how much each owner lowers psi when owners join in this order.
void walk(const Game& game, std::span<const GroupTotals> one, std::span<const size_t> order,
          std::span<double> brought) {
  GroupTotals group;
  double before = game.psi(group);
  for (size_t i : order) {
    group += one[i];
    const double after = game.psi(group);
    brought[i] += before - after;
    before = after;
  }
}

std::vector<Share> sampled_shares(const Game& game, std::span<const Player> players) {
  constexpr size_t kOrders = 2000;
  const size_t n = players.size();
  const auto one = tallies(game, players);
  std::vector<double> sum(n), squares(n);
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  SeededRandom random(1, n);
  for (size_t pair = 0; pair < kOrders / 2; ++pair) {
    for (size_t k = n; k > 1; --k)
      std::swap(order[k - 1], order[static_cast<size_t>(random.index(static_cast<int>(k)))]);
    std::vector<double> brought(n);
    walk(game, one, order, brought);
    std::reverse(order.begin(), order.end());
    walk(game, one, order, brought);
    for (size_t i = 0; i < n; ++i) {
      sum[i] += brought[i] / 2;
      squares[i] += brought[i] * brought[i] / 4;
    }
  }
  constexpr double kPairs = kOrders / 2;
  std::vector<Share> shares;
  for (size_t i = 0; i < n; ++i) {
    const double mean = sum[i] / kPairs;
    const double variance = std::max(squares[i] / kPairs - mean * mean, 0.0);
    shares.push_back({mean, std::sqrt(variance / (kPairs - 1))});
  }
  return shares;
}

}  // namespace

Coalition best_coalition(const Game& game, std::span<const Player> players) {
  check(!players.empty());
  if (players.size() <= kEnumerated) return best_of_all(game, players);
  return game.noise() == GameNoise::kStrictest ? by_strictness(game, players)
                                               : greedy(game, players);
}

std::vector<Share> shapley(const Game& game, std::span<const Player> players) {
  return players.size() <= kEnumerated ? exact_shares(game, players)
                                       : sampled_shares(game, players);
}

}  // namespace parley::forecast
