#include "parley/forecast/decide/coalitions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "parley/base/math/seeded_random.h"
#include "parley/base/result.h"

namespace parley::forecast {
namespace {

std::vector<Tally> tallies(const Game& game, std::span<const Player> players) {
  std::vector<Tally> all;
  for (const Player& player : players) all.push_back(game.of(player));
  return all;
}

/// The totals of every subset: bit i is owner i.
std::vector<Tally> all_groups(const Game& game, std::span<const Player> players) {
  const auto one = tallies(game, players);
  std::vector<Tally> groups(size_t{1} << players.size());
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
  Tally group;
  double best = std::numeric_limits<double>::infinity();
  const auto try_other = [&](size_t i) {  // i in if it is out, out if it is in
    Tally other = group;
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

/// With noise for the strictest, whoever needs less than someone who is in does no harm.
Coalition by_strictness(const Game& game, std::span<const Player> players) {
  const auto one = tallies(game, players);
  std::vector<size_t> order(players.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(one[a].strictest, a) < std::pair(one[b].strictest, b);
  });
  Tally group;
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
  for (const Tally& group : groups) psi.push_back(game.psi(group));
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

/// What each owner brings when they come in this order.
void walk(const Game& game, std::span<const Tally> one, std::span<const size_t> order,
          std::span<double> brought) {
  Tally group;
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
