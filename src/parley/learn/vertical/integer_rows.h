// A party's columns as whole numbers, for arithmetic modulo 2^64: every entry z_j is round(2^bits
// z_j), and no record is longer than its bound, by proof.
//
// A record is first shortened to (R - sqrt(p) 2^-bits / 2)(1 - 2^-40), then rounded, so that its
// integer norm is at most 2^bits R (as in kernel/lattice.h). With bits = 0 the entries must be
// whole already, as one-hot columns are; there nothing is shortened, and a record that is too long,
// or has an entry that is not whole, becomes the zero record: it counts, and says nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parley/data/any_rows.h"

namespace parley::learn {

class IntegerRows {
 public:
  IntegerRows(const data::AnyRows& rows, int bits, double max_norm);
  /// Of whole numbers as they are: of every `stride` the first `columns`.
  IntegerRows(std::span<const int64_t> numbers, size_t stride, size_t columns, int bits);

  size_t size() const { return offsets_.size() - 1; }
  size_t columns() const { return columns_; }
  int bits() const { return bits_; }
  std::span<const uint32_t> at(size_t i) const { return slice(at_, i); }
  std::span<const int64_t> values(size_t i) const { return slice(values_, i); }

  /// round(2^fraction scale z_i . x), z_i = 2^-bits times its integers, within +-2^fraction limit:
  /// a function of the record and x only, the same wherever the record lies.
  std::vector<int64_t> scores(std::span<const double> x, double scale, int fraction,
                              double limit) const;

  /// The sum over records of values times word, modulo 2^64: D'u.
  std::vector<uint64_t> combination(std::span<const uint64_t> words) const;

 private:
  template <class T>
  std::span<const T> slice(const std::vector<T>& all, size_t i) const {
    return {all.data() + offsets_[i], offsets_[i + 1] - offsets_[i]};
  }
  size_t columns_;
  int bits_;
  std::vector<uint64_t> offsets_{0};
  std::vector<uint32_t> at_{};
  std::vector<int64_t> values_{};
};

/// What a party brings to arithmetic under masks: its columns, and the labels where it holds them.
struct IntegerColumns {
  IntegerRows rows;
  std::vector<int64_t> labels{};
};

}  // namespace parley::learn
