// Exact noise from integers only: no floating point stands between the entropy and the sample
// (Canonne, Kamath, Steinke 2020, "The Discrete Gaussian for Differential Privacy", Algorithms
// 1-2).
//
// How many words a sample takes depends on the sample, so noise is drawn ahead of a query, never
// while someone measures the answer's time.
#pragma once

#include <cstdint>

#include "parley/base/entropy.h"

namespace parley::privacy {

__extension__ using Uint128 = unsigned __int128;

/// Uniform on 0 .. n-1, n > 0. Takes as many words as n - 1 needs, low word first, and rejects the
/// incomplete last block, so every value has exactly the same probability.
Uint128 below(Entropy& entropy, Uint128 n);

/// True with probability exactly exp(-a/b), for 0 <= a <= b.
bool bernoulli_exp(Entropy& entropy, Uint128 a, Uint128 b);

/// The largest scale of discrete noise, in lattice units; charters that need more are refused.
inline constexpr uint64_t kScaleMax = uint64_t{1} << 56;

/// k with probability proportional to exp(-|k| / scale), 0 < scale <= kScaleMax. Every product is
/// checked: at scale 2^56 a sample that does not fit 63 bits has probability below exp(-127), and
/// ends the process instead of wrapping.
int64_t discrete_laplace(Entropy& entropy, uint64_t scale);

}  // namespace parley::privacy
