// Tests whether the sender's numbers were legal rows. They must be those that its own choices of
// leaves stand for in the other direction, where every choice is legal.
//
// m has P, k has Q, and P - Q = D[m]' T, where T is what k used. When all words of k have arrived,
// m draws five random vectors rho and sends D[m] rho into k's trees: a - b = D[k]' D[m] rho, with a
// at k and b at m. If T = D[k], then P' rho + b = Q' rho + a. Both sides are compared in private
// (equality.h).
//
// A difference that is not 0 modulo 2^56 passes one vector with probability at most 2^-9 (for
// differences of the form odd * 2^e the product with a random word is 0 modulo 2^64 with
// probability 2^-(64-e), e <= 55), and all five with at most 2^-45. Multiples of 2^56 pass more
// often; so after the test everything is kept modulo 2^56, and nothing of the upper bits is ever
// sent.
#pragma once

#include "parley/protocol/vertical/cells/product.h"

namespace parley::protocol::ot {

inline constexpr size_t kTests = 5;
inline constexpr unsigned kWordBits = 56;

/// The random vectors that follow from m's seed: a row for each of m's columns. ChaCha20.
Words test_vectors(const Hash& seed, size_t rows);

/// m's numbers for k's trees: its rows times the vectors, kTests for every record.
WipedVector<uint64_t> tested_numbers(std::span<const int64_t> rows, const Words& vectors);

/// What is compared: the share (P at m, Q at k) times the vectors, plus the share of the test (b at
/// m, a at k).
WipedVector<uint64_t> compared_words(const Words& share, const Words& vectors,
                                     const Words& test_share);

/// Drops the upper bits, once the test has passed.
void reduce(std::span<uint64_t> words);

/// The number that 56 bits stand for, from -2^55 to 2^55 - 1.
int64_t signed_number(uint64_t word);

}  // namespace parley::protocol::ot
