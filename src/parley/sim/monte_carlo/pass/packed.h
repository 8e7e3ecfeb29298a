// An owner's rows, packed for passes with many models at once: chunks of rows that fit a cache,
// each stored column by column, in single or double precision.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>
#include <variant>
#include <vector>

#include "parley/data/rows.h"
#include "parley/learn/loss.h"
#include "parley/learn/objective.h"

namespace parley::sim::monte_carlo {

enum class Precision { kSingle, kDouble };

/// An odd number of cache lines, so that the columns of a chunk do not compete for the same ones.
inline constexpr size_t kChunk = 528;
inline constexpr size_t kVectorBytes = 64;

/// Starts at a cache line: a vector that straddles two costs twice.
template <class Real>
struct LineAllocator {
  using value_type = Real;
  LineAllocator() = default;
  template <class Other>
  explicit LineAllocator(const LineAllocator<Other>&) {}
  Real* allocate(size_t count) {
    return static_cast<Real*>(::operator new(count * sizeof(Real), std::align_val_t(kVectorBytes)));
  }
  void deallocate(Real* at, size_t) { ::operator delete(at, std::align_val_t(kVectorBytes)); }
  bool operator==(const LineAllocator&) const = default;
};
template <class Real>
using Lines = std::vector<Real, LineAllocator<Real>>;

template <class Real>
class PackedRows {
 public:
  /// A record's slope is clamped to what its gradient's limit leaves: limit / norm of z. For passes
  /// with this loss only.
  PackedRows(const learn::Losses& loss, const data::Rows& rows, learn::ClipIn norm, double limit);

  /// Of the hinge loss a record's gradient is 0 or one vector, c (-y) z with c its weight or what
  /// the limit leaves of it. That vector is what is packed; its score is above -c where the record
  /// is short of its margin. labels() holds -c, and limits() what the loss is in terms of score +
  /// c.
  bool hinge() const { return hinge_; }

  size_t rows() const { return rows_; }
  size_t columns() const { return columns_; }
  size_t chunks() const { return (rows_ + kChunk - 1) / kChunk; }
  /// Rows of a chunk; up to kChunk zeros follow, with slopes clamped to zero.
  size_t size(size_t chunk) const { return std::min(kChunk, rows_ - chunk * kChunk); }

  const Real* column(size_t chunk, size_t j) const {
    return &values_[(chunk * columns_ + j) * kChunk];
  }
  const Real* labels(size_t chunk) const { return &labels_[chunk * kChunk]; }
  const Real* limits(size_t chunk) const { return &limits_[chunk * kChunk]; }

 private:
  void put(size_t i, std::span<const double> z, double factor, double label, double limit);
  void put_steps(size_t i, std::span<const double> z, double label, double weight, double most);

  bool hinge_;
  size_t rows_, columns_;
  Lines<Real> values_, labels_, limits_;
};

extern template class PackedRows<float>;
extern template class PackedRows<double>;

using Packed = std::variant<PackedRows<float>, PackedRows<double>>;
Packed pack(const learn::Losses& loss, const data::Rows& rows, learn::ClipIn norm, double limit,
            Precision precision);

}  // namespace parley::sim::monte_carlo
