#include "parley/privacy/noise.h"

#include "parley/base/result.h"

namespace parley::privacy {
namespace {

Uint128 product(Uint128 a, Uint128 b) {
  Uint128 result;
  check(!__builtin_mul_overflow(a, b, &result));
  return result;
}

}  // namespace

Uint128 below(Entropy& entropy, Uint128 n) {
  check(n > 0);
  if (n >> 64 == 0) {
    const auto size = static_cast<uint64_t>(n);
    const uint64_t rest = -size % size;  // 2^64 mod n
    for (;;)
      if (const uint64_t draw = entropy.word(); draw <= ~rest) return draw % size;
  }
  if (n == Uint128{1} << 64) return entropy.word();
  const Uint128 rest = -n % n;  // 2^128 mod n
  for (;;) {
    const Uint128 low = entropy.word();
    const Uint128 draw = low | (Uint128{entropy.word()} << 64);
    if (draw <= ~rest) return draw % n;
  }
}

bool bernoulli_exp(Entropy& entropy, Uint128 a, Uint128 b) {
  check(a <= b && b > 0);
  // exp(-a/b) is the sum of (-a/b)^k / k!: the first k with below(b k) >= a is odd that often.
  Uint128 k = 1;
  while (below(entropy, product(b, k)) < a) ++k;
  return k % 2 == 1;
}

int64_t discrete_laplace(Entropy& entropy, uint64_t scale) {
  check(scale > 0 && scale <= kScaleMax);
  for (;;) {
    const Uint128 low = below(entropy, scale);
    if (!bernoulli_exp(entropy, low, scale)) continue;
    Uint128 high = 0;  // Geometric, in steps of exp(-1).
    while (bernoulli_exp(entropy, 1, 1)) ++high;
    const Uint128 size = low + product(scale, high);
    check(size >> 63 == 0);
    const bool negative = entropy.word() & 1;
    if (negative && size == 0) continue;  // Zero would otherwise be drawn twice as often.
    return negative ? -static_cast<int64_t>(size) : static_cast<int64_t>(size);
  }
}

}  // namespace parley::privacy
