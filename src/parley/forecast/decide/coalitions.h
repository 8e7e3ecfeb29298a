// Who should be in, and what everyone's part is worth.
#pragma once

#include <cstdint>
#include <vector>

#include "parley/forecast/decide/game.h"

namespace parley::forecast {

struct Coalition {
  std::vector<size_t> members{};  // going up
  double psi = 0;
};

/// The best group of at least one: all of them tried up to 15 owners; beyond, owners come in the
/// order of rows / deviation of their noise while that helps, then single owners are added or left
/// out as long as that helps; with noise for the strictest, all up to some strictness.
Coalition best_coalition(const Game& game, std::span<const Player> players);

struct Share {
  double value = 0;
  double standard_error = 0;  // 0 where it is exact
};

/// Shapley values of -psi: how much nearer to the best an owner brings the others, on average over
/// the orders in which they could have come. They add up to psi(nobody) - psi(everybody). Exact up
/// to 15 owners, else from 2,000 random orders, each also walked backwards.
std::vector<Share> shapley(const Game& game, std::span<const Player> players);

inline constexpr size_t kEnumerated = 15;

}  // namespace parley::forecast
