// Discrete Gaussian noise from a table: one word a draw, no loops, and a distance from the exact
// distribution that is proven and small, but not zero. For noise of a few thousand lattice units,
// drawn by the million; above, and wherever nothing may be added to delta, noise.h.
//
// An alias table (Walker 1977) over |X|, in whole numbers. |X| = k has the weight
// floor(2^127 P(|X| = k)), what is lost goes to 0, so that all weights add up to exactly 2^127 and
// are drawn exactly. With K values, K - 4 >= 14 sigma, the statistical distance is at most
// (K + 1) 2^-127: K roundings of less than 2^-127 each, and far below 2^-127 together the tail
// beyond K, at most 2 exp(-98) < 2^-140 (Canonne, Kamath, Steinke 2020, proposition 25), and the
// errors of the computed P, below 2^-130 (table_sampler.cc).
#pragma once

#include <cstdint>
#include <vector>

#include "parley/base/entropy.h"
#include "parley/base/result.h"
#include "parley/privacy/uint256.h"
#include "parley/privacy/units.h"

namespace parley::privacy {

/// The weights of |X| = 0 .. K-1, which add up to 2^127, for the discrete Gaussian of this
/// variance.
std::vector<Uint128> gaussian_weights(uint64_t variance);

class TableSampler {
 public:
  static constexpr uint64_t kVarianceMin = 16, kVarianceMax = uint64_t{1} << 24;  // sigma 4 .. 2^12

  /// `variance` is in lattice units squared.
  static Result<TableSampler> make(uint64_t variance);

  /// The highest bits of a word choose a column, the lowest is the sign, those between decide
  /// between the column's own value and its alias. In a tie, about one draw in 2^47, a second word
  /// does.
  int64_t sample(Entropy& entropy) const {
    const uint64_t word = entropy.word();
    const uint64_t column = word >> (64 - bits_), part = (word << bits_) >> (bits_ + 1);
    const uint64_t entry = columns_[column], keep = entry >> bits_;
    bool own = part < keep;
    if (part == keep) [[unlikely]]
      own = entropy.word() < ties_[column];
    const uint64_t size = own ? column : entry & ((uint64_t{1} << bits_) - 1);
    const uint64_t sign = -(word & 1);
    return static_cast<int64_t>((size ^ sign) - sign);
  }

  /// The statistical distance of one draw from the exact distribution, at most.
  double distance() const { return distance_; }

  /// What `draws` draws add to the delta of a promise of `epsilon`, however they are composed:
  /// every event's probability moves by at most draws * distance in either of two worlds.
  double delta_for(double draws, Epsilon epsilon) const;

 private:
  explicit TableSampler(const std::vector<Uint128>& weights);
  void set_column(size_t column, Uint128 keep, uint64_t alias);

  int bits_;  // 2^bits columns, each of weight 2^(127 - bits)
  double distance_;
  std::vector<uint64_t> columns_;  // the leading 64 - bits of what is kept, then the alias
  std::vector<uint64_t> ties_;     // the other 64 of what is kept
};

}  // namespace parley::privacy
