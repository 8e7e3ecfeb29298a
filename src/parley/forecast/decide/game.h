// What any group of owners would reach together, from public numbers; the best group, and every
// owner's Shapley value.
//
//   psi(S) = response(sum of v_i^2 variance_i) + spread sum of v_i^2 / n_i
//            + differ sum over all owners of (v_i - w_i)^2
//
// is the expected excess over the optimum of infinitely many rows, in units of f*. The three terms
// are due to noise and optimisation, to finite rows, and to weights v that differ from the owners'
// shares w of all rows. All sums are ratios of totals over S, so adding or removing an owner takes
// constant time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parley/forecast/propagate/moments.h"

namespace parley::forecast {

/// Of one owner, all public.
struct Player {
  double rows = 0;
  double variance = 0;  // of the noise on one coordinate of its mean gradient
};

enum class GameWeights { kRows, kAlike, kOptimal };

/// Owners' noise adds up, or, in a secure sum, there is as much as the strictest of them needs.
enum class GameNoise { kSum, kStrictest };

/// Totals over a group of owners.
struct GroupTotals {
  size_t owners = 0;
  double rows = 0;              // sum of n
  double noise = 0;             // sum of n^2 variance
  double inverse = 0;           // sum of 1/D, D = gain variance + spread / n
  double inverse_noise = 0;     // sum of variance / D^2
  double inverse_sampling = 0;  // sum of 1 / (n D^2)
  double inverse_rows = 0;      // sum of 1/n
  double strictest = 0;         // largest variance, times n^2 with weights by rows
  double squares = 0;           // sum of n^2
  double inverse_squares = 0;   // sum of 1/D^2
  double inverse_share = 0;     // sum of n/D

  GroupTotals& operator+=(const GroupTotals& other);
  /// Leaves `strictest` as it is, which cannot be undone.
  GroupTotals& operator-=(const GroupTotals& other);
};

class Game {
 public:
  /// `response` and `alone`, what is reached without anyone, are in units of f*; `spread` is B /
  /// f*. Optimal weights are 1/D normed, with the response's slope at `variance` for the gain.
  Game(Response response, double spread, double alone, GameWeights weights, double variance,
       GameNoise noise = GameNoise::kSum);

  /// `differ`, in units of f*: the excess on all rows of the best model of one owner's population.
  /// It counts in groups of fewer owners than these.
  void owners_differ(double differ, std::span<const Player> players);

  GroupTotals of(const Player& player) const;
  GroupTotals of(std::span<const Player> players) const;
  /// The totals of all but one, for each of them.
  std::vector<GroupTotals> without_each(std::span<const Player> players) const;
  /// psi of the group, at most `alone`, which is that of nobody.
  double psi(const GroupTotals& group) const;
  /// Without the limit: infinite for nobody.
  double reached(const GroupTotals& group) const;
  /// The weights of a group's members, in their order.
  std::vector<double> weights(std::span<const Player> players) const;
  /// The variance of owner `player` at which the group with it reaches `psi`; 0 if none does.
  double variance_for(const GroupTotals& others, Player player, double psi) const;

  double spread() const { return spread_; }
  double alone() const { return alone_; }
  const Response& response() const { return response_; }
  GameNoise noise() const { return noise_; }

 private:
  double distance(const Player& player) const;  // D
  double noise_of(const GroupTotals& group) const;
  double unlike(const GroupTotals& group) const;

  Response response_;
  double spread_, alone_, gain_;
  GameWeights weights_;
  GameNoise noise_;
  double differ_ = 0;
  GroupTotals all_{};  // where owners differ
};

struct Coalition {
  std::vector<size_t> members{};  // ascending
  double psi = 0;
};

/// The best group of at least one owner. Up to 15 owners all groups are tried. Beyond, owners are
/// added in the order of rows / standard deviation of their noise while that helps, then single
/// owners are added or left out while that helps; with noise for the strictest, all owners up to
/// some strictness.
Coalition best_coalition(const Game& game, std::span<const Player> players);

struct Share {
  double value = 0;
  double standard_error = 0;  // 0 where it is exact
};

/// Shapley values of -psi: by how much an owner lowers psi, on average over the orders in which
/// owners could join. They add up to psi(nobody) - psi(everybody). Exact up to 15 owners, else from
/// 1,000 random orders and their reverses.
std::vector<Share> shapley(const Game& game, std::span<const Player> players);

inline constexpr size_t kEnumerated = 15;

}  // namespace parley::forecast
