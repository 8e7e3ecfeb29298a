// The algebra of V-B: party m learns D_m' (sum of u_k) plus noise, where D_m is its own and u_k is
// party k's, and nobody learns anything else. The arithmetic is that of a ring of words: modulo
// 2^64 in the product, and in tests also modulo 4, where everything that a party can see can be
// enumerated.
//
// A dealer without data draws masks A_m (as large as D_m, once), b_k (one word per record) and c_km
// (one per column of m), fresh for every round and ordered pair:
//
//   m -> k       E_m = D_m - A_m                                   once
//   k -> m       F_k = u_k - b_k
//   k -> m       share_km = E_m' b_k + c_km
//   dealer -> m  C_m = sum over k of (A_m' b_k - c_km) + Z_m
//   m            C_m + sum over k of (D_m' F_k + share_km) + D_m' u_m = D_m' (sum of all u) + Z_m
//
// For each k: D'F + E'b + A'b = D'u - D'b + D'b = D'u. There is one C_m for all k, so that m sees
// only the sum over them; and one c per receiver, so that two receivers cannot compare what they
// got.
//
// V-C opens the product of two parties' columns, D_m' D_k, in the same way: D_k in place of u_k and
// its mask A_k in place of b_k, so that F_k is E_k, which m has. There every product is opened
// separately, to the earlier party of the two, with a correction of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parley/base/result.h"

namespace parley::protocol {

template <class Word>
using Words = std::vector<Word>;

/// A matrix of words, row by row.
template <class Word>
struct WordMatrix {
  size_t rows = 0, columns = 0;
  Words<Word> words{};
};

/// M'v.
template <class Word>
Words<Word> transposed(const WordMatrix<Word>& matrix, std::span<const Word> v) {
  check(v.size() == matrix.rows);
  Words<Word> out(matrix.columns);
  for (size_t i = 0; i < matrix.rows; ++i) {
    const Word* const row = matrix.words.data() + i * matrix.columns;
    for (size_t j = 0; j < matrix.columns; ++j) out[j] += row[j] * v[i];
  }
  return out;
}

/// M'N, row by row.
template <class Word>
Words<Word> transposed(const WordMatrix<Word>& matrix, const WordMatrix<Word>& other) {
  check(other.rows == matrix.rows);
  Words<Word> out(matrix.columns * other.columns);
  for (size_t i = 0; i < matrix.rows; ++i) {
    const Word* const row = matrix.words.data() + i * matrix.columns;
    const Word* const beside = other.words.data() + i * other.columns;
    for (size_t j = 0; j < matrix.columns; ++j)
      for (size_t k = 0; k < other.columns; ++k) out[j * other.columns + k] += row[j] * beside[k];
  }
  return out;
}

/// a - b, word by word.
template <class Word>
Words<Word> minus(std::span<const Word> a, std::span<const Word> b) {
  check(a.size() == b.size());
  Words<Word> out(a.begin(), a.end());
  for (size_t i = 0; i < out.size(); ++i) out[i] -= b[i];
  return out;
}

template <class Word>
void add_to(Words<Word>& sum, std::span<const Word> words) {
  check(sum.size() == words.size());
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += words[i];
}

/// What the dealer adds to C_m for one k.
template <class Word>
Words<Word> correction(const WordMatrix<Word>& a, std::span<const Word> b,
                       std::span<const Word> c) {
  return minus<Word>(transposed(a, b), c);
}

/// share_km.
template <class Word>
Words<Word> share_for(const WordMatrix<Word>& e, std::span<const Word> b, std::span<const Word> c) {
  Words<Word> share = transposed(e, b);
  add_to<Word>(share, c);
  return share;
}

using Word = uint64_t;  // of the product; above, any ring's

}  // namespace parley::protocol
