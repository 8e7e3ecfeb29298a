// The probabilities are fractions of 192 bits, u = 2^-192. A product is cut by less than u, so with
// r = exp(-1/(2 variance)) to 100 u, r^(2k+1) is within 300 (k+1) u and r^(k^2) within 300 k^2 u:
// for k < 2^16 below 2^-151. Their sum is within 2^-134, and so is the sum of all errors after
// dividing by it.
#include "parley/privacy/table_sampler.h"

#include <bit>
#include <cmath>

#include "parley/base/math/number.h"

namespace parley::privacy {
namespace {

/// a b / 2^192 rounded down, for a and b below 2^192.
Uint256 times(const Uint256& a, const Uint256& b) {
  uint64_t whole[6] = {};
  for (size_t i = 0; i < 3; ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < 3; ++j) {
      const Uint128 part = Uint128{a.word[i]} * b.word[j] + whole[i + j] + carry;
      whole[i + j] = low_word(part);
      carry = high_word(part);
    }
    whole[i + 3] = carry;
  }
  Uint256 result;
  for (size_t i = 0; i < 3; ++i) result.word[i] = whole[i + 3];
  return result;
}

Uint256 divided(Uint256 a, uint64_t divisor) {
  Uint128 rest = 0;
  for (size_t i = 4; i-- > 0;) {
    rest = rest << 64 | a.word[i];
    a.word[i] = low_word(rest / divisor);
    rest %= divisor;
  }
  return a;
}

Uint256 one() {
  Uint256 result;
  result.word[3] = 1;
  return result;
}

/// exp(-1 / divisor) by its series, divisor at least 2: each of at most 60 terms is cut by less
/// than 2 u.
Uint256 exp_minus_inverse(uint64_t divisor) {
  const Uint256 x = divided(one(), divisor);
  Uint256 sum = one() - x, term = x;
  for (uint64_t n = 2; term != Uint256{}; ++n) {
    term = divided(times(term, x), n);
    sum = n % 2 == 0 ? sum + term : sum - term;
  }
  return sum;
}

/// 2^384 / sum, bit by bit, for a sum above 2^192.
Uint256 inverse(const Uint256& sum) {
  Uint256 rest(1), quotient;
  for (int bit = 0; bit < 384; ++bit) {
    rest = rest * 2;
    quotient = quotient * 2;
    if (is_less(rest, sum)) continue;
    rest = rest - sum;
    quotient = quotient + Uint256(1);
  }
  return quotient;
}

/// exp(-k^2 / (2 variance)) for k = 1 .. count - 1; the first element is left at 0.
std::vector<Uint256> powers(uint64_t variance, size_t count) {
  const Uint256 r = exp_minus_inverse(2 * variance), square = times(r, r);
  std::vector<Uint256> result(count);
  result[1] = r;
  Uint256 step = times(r, square);
  for (size_t k = 2; k < count; ++k, step = times(step, square))
    result[k] = times(result[k - 1], step);
  return result;
}

constexpr Uint128 kWhole = Uint128{1} << 127;

}  // namespace

std::vector<Uint128> gaussian_weights(uint64_t variance) {
  const auto count = static_cast<size_t>(std::sqrt(196.0 * double(variance))) + 6;
  const std::vector<Uint256> power = powers(variance, count);
  Uint256 sum = one();
  for (size_t k = 1; k < count; ++k) sum = sum + power[k] * 2;
  const Uint256 scale = inverse(sum);
  std::vector<Uint128> weights(count);
  weights[0] = kWhole;
  for (size_t k = 1; k < count; ++k) {
    const Uint256 one_side = times(power[k], scale);
    weights[k] = Uint128{one_side.word[2]} << 64 | one_side.word[1];  // Twice, times 2^127.
    check(weights[0] > weights[k]);
    weights[0] -= weights[k];
  }
  return weights;
}

void TableSampler::set_column(size_t column, Uint128 keep, uint64_t alias) {
  columns_[column] = high_word(keep) << bits_ | alias;
  ties_[column] = low_word(keep);
}

/// Each column below its share is filled up by one above it.
TableSampler::TableSampler(const std::vector<Uint128>& weights)
    : bits_(static_cast<int>(std::bit_width(weights.size() - 1))),
      distance_((double(weights.size()) + 1) * 0x1p-127),
      columns_(size_t{1} << bits_),
      ties_(columns_.size()) {
  const Uint128 share = kWhole >> bits_;
  std::vector<Uint128> left = weights;
  left.resize(columns_.size());
  std::vector<size_t> small, large;
  for (size_t k = 0; k < left.size(); ++k) (left[k] < share ? small : large).push_back(k);
  while (!small.empty()) {
    const size_t to = small.back(), from = large.back();
    small.pop_back();
    set_column(to, left[to], from);
    left[from] -= share - left[to];
    if (left[from] >= share) continue;
    large.pop_back();
    small.push_back(from);
  }
  for (size_t k : large) {
    check(left[k] == share);
    set_column(k, share, k);
  }
}

Result<TableSampler> TableSampler::make(uint64_t variance) {
  if (variance < kVarianceMin || variance > kVarianceMax)
    return Error{Code::kInvalid, "a table of noise is for variances of 2^4 .. 2^24 lattice units",
                 "Draw exact noise instead."};
  return TableSampler(gaussian_weights(variance));
}

double TableSampler::delta_for(double draws, Epsilon epsilon) const {
  const double worlds = add_up(1, next_up(next_up(std::exp(epsilon.value()))));
  return mul_up(mul_up(draws, distance_), worlds);
}

}  // namespace parley::privacy
