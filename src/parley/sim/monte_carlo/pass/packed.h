// An owner's rows for passes with many models at once: chunks of rows that fit a cache, in each
// column by column, in single or double precision.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "parley/learn/data/rows.h"
#include "parley/learn/objective.h"

namespace parley::sim::monte_carlo {

enum class Precision { kSingle, kDouble };

/// An odd number of cache lines, so that the columns of a chunk do not compete for the same ones.
inline constexpr size_t kChunk = 528;
inline constexpr size_t kVectorBytes = 64;

template <class Real>
class PackedRows {
 public:
  /// A record's slope is clamped to what its gradient's limit leaves: limit / norm of z. Where the
  /// slope can only be one number or zero, rows are needed one after the other as well.
  PackedRows(const learn::Rows& rows, learn::ClipIn norm, double limit, bool rows_too = false);

  size_t rows() const { return rows_; }
  size_t columns() const { return columns_; }
  size_t chunks() const { return (rows_ + kChunk - 1) / kChunk; }
  /// Rows of a chunk; up to kChunk zeros follow, with slopes clamped to zero.
  size_t size(size_t chunk) const { return std::min(kChunk, rows_ - chunk * kChunk); }

  const Real* column(size_t chunk, size_t j) const {
    return at(values_, (chunk * columns_ + j) * kChunk);
  }
  bool has_rows() const { return !by_row_.empty(); }
  /// Numbers from one row to the next: whole vectors, with zeros beyond the columns.
  size_t stride() const { return (columns_ + kPadding - 1) / kPadding * kPadding; }
  const Real* row(size_t chunk, size_t i) const {
    return at(by_row_, (chunk * kChunk + i) * stride());
  }
  const Real* labels(size_t chunk) const { return at(labels_, chunk * kChunk); }
  const Real* limits(size_t chunk) const { return at(limits_, chunk * kChunk); }

 private:
  static constexpr size_t kPadding = kVectorBytes / sizeof(float);  // in either precision
  struct alignas(kVectorBytes) Line {
    Real values[kVectorBytes / sizeof(Real)];
  };
  using Lines = std::vector<Line>;
  static Lines lines(size_t count) { return Lines(count * sizeof(Real) / kVectorBytes); }
  static const Real* at(const Lines& lines, size_t place) { return lines.data()->values + place; }
  static Real* at(Lines& lines, size_t place) { return lines.data()->values + place; }

  size_t rows_, columns_;
  Lines values_, labels_, limits_, by_row_;
};

extern template class PackedRows<float>;
extern template class PackedRows<double>;

using Packed = std::variant<PackedRows<float>, PackedRows<double>>;
Packed pack(const learn::Rows& rows, learn::ClipIn norm, double limit, Precision precision,
            bool rows_too);

}  // namespace parley::sim::monte_carlo
