// One record's part of the second moments: the upper triangle of z z' and then y z, on a lattice.
// For squared loss their sums over records are all that a model needs.
//
// A label is clamped to its bound and multiplied by a public weight, which the reader divides out:
// products with the label then carry less noise, and products of features more. Below, y is the
// weighted label and Y its bound. The record (z, y) is multiplied by min(1, R/length): a long
// record counts less, but says the same about the model. Its length is ||z|| in L2. In L1 it is the
// root of
//     |z|^2 = (||z||_1^2 + ||z||_2^2)/2 + |y| ||z||_1,
// the L1 norm of all its entries here, so that records of many middling features are not cut for
// what one large feature could do. In L2, entries off the diagonal and with the label are
// multiplied by sqrt(2), which makes the norm of the triangle that of the matrices.
//
// Claim. Two records differ by at most
//     D1 = 2 R^2                                        in L1,
//     D2 = sqrt(8) R Y for R <= Y, sqrt(2) (R^2 + Y^2) for R >= Y    in L2,
// before rounding to the lattice, and by at most D/gamma (1 + 2^-40) + d, or + sqrt(d), after it,
// where d = p(p+3)/2.
//
// Proof, L1. The entries of a record are of degree 2 in (z, y), and the sum over j <= k of |z_j
// z_k| is (||z||_1^2 + ||z||_2^2)/2. Once the record is shortened, their L1 norm is at most R^2;
// for two records, twice that.
//
// Proof, L2. With r = ||z|| and s = z.z', a record has squared norm r^4 + 2 y^2 r^2, and two
// records have the inner product s^2 + 2 s y y', so
//     F = r^4 + r'^4 + 2 y^2 r^2 + 2 y'^2 r'^2 - 2 (s^2 + 2 s y y').
// Over |s| <= r r' the last bracket is smallest at s = -y y' if |y y'| <= r r', else at |s| = r r'.
//
// (a) |y y'| <= r r'. Then
//     F <= r^4 + r'^4 + 2 y^2 r^2 + 2 y'^2 r'^2 + 2 (y y')^2,
// which grows with every variable: F <= 2 (R^2 + Y^2)^2. If R <= Y, (y y')^2 <= R^4 <= R^2 Y^2, so
// F <= 8 R^2 Y^2.
//
// (b) |y y'| > r r'. Then
//     F <= (r^2 - r'^2)^2 + 2 Y^2 (r + r')^2 = (r + r')^2 ((r - r')^2 + 2 Y^2).
// If R <= Y: with S = r + r' >= R, |r - r'| <= 2R - S, and S^2 ((2R - S)^2 + 2 Y^2) grows with S,
// since (2R - S)(2R - 2S) >= -R^2/2 > -2 Y^2; at S = 2R it is 8 R^2 Y^2. With S <= R it is at most
// 3 R^2 Y^2. If R >= Y: let P = r r' <= Y^2 and Q = r^2 + r'^2 <= R^2 + P^2/R^2 <= R^2 + P^2/Y^2.
// The bound is
//     (Q + 2P)(Q - 2P + 2 Y^2) = (Q + Y^2)^2 - (2P - Y^2)^2.
// For P <= Y^2/2 it is at most (R^2 + 5/4 Y^2)^2 < 2 (R^2 + Y^2)^2. For larger P it grows with P,
// because its derivative by P is at least 4 (R^2 + 5/4 Y^2) P/Y^2 - 4 (2P - Y^2) > 0; and at P =
// Y^2 it is (R^2 + 2 Y^2)^2 - Y^4 <= 2 (R^2 + Y^2)^2, because Y <= R. Both bounds are attained
// (statistics_test.cc).
//
// Rounding. As in lattice.h the shortened record, as computed, has length at most R: a sum of at
// most 3p + 4 roundings of numbers that are not negative, below 2^-41 of it. An entry carries two
// roundings and that of sqrt(2), less than 2^-40 of D over two records, whose norms are below D;
// then each of d entries of two records moves by at most 1/2. End of proof.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <type_traits>
#include <vector>

#include "parley/base/math/norm.h"
#include "parley/base/math/number.h"
#include "parley/data/sparse_rows.h"
#include "parley/learn/kernel/lattice.h"
#include "parley/learn/kernel/record_map.h"

namespace parley::learn {

/// How many moments p features have.
inline size_t statistics_size(size_t columns) { return columns * (columns + 3) / 2; }

/// So many features make an answer of one megabyte.
inline constexpr size_t kStatisticsColumnsMax = 500;

/// The length of a record whose label is weighted, as said above.
template <class Norm>
double statistics_length(std::span<const double> z, double y) {
  double sizes[data::kLanes] = {}, squares[data::kLanes] = {};
  for (size_t j = 0; j < z.size(); ++j) {
    sizes[j % data::kLanes] += std::fabs(z[j]);
    squares[j % data::kLanes] = std::fma(z[j], z[j], squares[j % data::kLanes]);
  }
  double size = 0, square = 0;  // One order; that of record_map.h would do as well.
  for (const double lane : sizes) size += lane;
  for (const double lane : squares) square += lane;
  if constexpr (std::is_same_v<Norm, L2>) return std::sqrt(square);
  return std::sqrt(size * (size / 2 + std::fabs(y)) + square / 2);
}

/// How far one replaced record moves the sum of moments, in real units, where rows are no longer
/// than `row` and weighted labels no larger than `label` (proofs above).
template <class Norm>
double moments_reach(double row, double label) {
  if constexpr (std::is_same_v<Norm, L1>) return 2 * row * row;
  return row <= label ? std::sqrt(8.0) * row * label : std::sqrt(2.0) * (row * row + label * label);
}

template <class Norm>
class StatisticsMap {
 public:
  static Result<StatisticsMap> make(double max_row_norm, double label_bound, int grid_bits,
                                    size_t columns, double label_weight = 1) {
    if (columns > kStatisticsColumnsMax)
      return Error{Code::kInvalid,
                   "statistics are for at most 500 features, found " + std::to_string(columns),
                   "Take another rule, for example \"constant\".",
                   {.key = "protocol.rule"}};
    const double weighted = label_bound * label_weight;
    if (!(max_row_norm >= 1e-12 && max_row_norm <= 1e12 && weighted >= 1e-12 && weighted <= 1e12))
      return Error{Code::kInvalid,
                   "statistics need max_row_norm and weighted labels between 1e-12 and 1e12",
                   "Scale features and target.",
                   {.key = "privacy.max_row_norm"}};
    const double record =
        max_row_norm *
        (kL1 ? max_row_norm : std::hypot(max_row_norm, std::numbers::sqrt2 * weighted));
    const auto lattice = TRY(Lattice::make(record, grid_bits, columns));
    return StatisticsMap(max_row_norm, weighted, label_weight, lattice);
  }

  const Lattice& lattice() const { return lattice_; }  // its clip is about one record's norm
  size_t columns() const { return lattice_.dimension(); }
  size_t size() const { return statistics_size(columns()); }
  double label_weight() const { return weight_; }
  double label_bound() const { return label_; }             // of weighted labels
  double row_most() const { return row_ * (1 - 0x1p-40); }  // to which longer records are shrunk

  /// How far one replaced record moves the sum, in lattice units.
  double sensitivity() const {
    const auto d = static_cast<double>(size());
    const double exact = moments_reach<Norm>(row_, label_);
    return std::ceil(exact / lattice_.gamma() * (1 + 0x1p-39) + (kL1 ? d : std::sqrt(d)));
  }

  /// Adds the integers of the record (z, y) to `sum`, which has size() entries. A pure function of
  /// the record, like record_map.h.
  void add(std::span<const double> z, double y, int64_t* sum) const {
    y *= weight_;
    y = y > label_ ? label_ : y < -label_ ? -label_ : y;
    const double shrink = shrink_of(z, y);
    y *= shrink;
    double* w = scratch_.data();
    for (size_t j = 0; j < z.size(); ++j) w[j] = shrink * z[j];
    const double off = (kL1 ? 1 : std::numbers::sqrt2);
    for (size_t j = 0; j < z.size(); ++j) {
      const double here = w[j] / lattice_.gamma(), beside = off * here;  // gamma: a power of two
      *sum++ += rounded(here, w[j]);
      for (size_t k = j + 1; k < z.size(); ++k) *sum++ += rounded(beside, w[k]);
    }
    const double label = off * (y / lattice_.gamma());
    for (size_t j = 0; j < z.size(); ++j) *sum++ += rounded(label, w[j]);
  }

 private:
  static constexpr bool kL1 = std::is_same_v<Norm, L1>;

  StatisticsMap(double row, double label, double weight, const Lattice& lattice)
      : row_(row),
        label_(label),
        weight_(weight),
        lattice_(lattice),
        scratch_(lattice.dimension()) {}

  static int64_t rounded(double a, double b) {
    return std::bit_cast<int64_t>(std::fma(a, b, kShift)) - std::bit_cast<int64_t>(kShift);
  }

  double shrink_of(std::span<const double> z, double y) const {
    const double length = statistics_length<Norm>(z, y), most = row_most();
    return length > most ? most / length : 1.0;
  }

  double row_, label_, weight_;  // the label's bound is a weighted one
  Lattice lattice_;
  mutable std::vector<double> scratch_;  // One map a thread.
};

/// The integers of rows [begin, end), summed.
template <class Norm>
std::vector<int64_t> statistics_sum(StatisticsMap<Norm> map, const data::Rows& rows, size_t begin,
                                    size_t end) {
  std::vector<int64_t> sum(map.size());
  for (size_t i = begin; i < end; ++i) map.add(rows.row(i), rows.label(i), sum.data());
  return sum;
}

template <class Norm>
std::vector<int64_t> statistics_sum(StatisticsMap<Norm> map, const data::SparseRows& rows,
                                    size_t begin, size_t end) {
  std::vector<int64_t> sum(map.size());
  std::vector<double> z(map.columns());
  for (size_t i = begin; i < end; ++i) {
    std::fill(z.begin(), z.end(), 0.0);
    const auto at = rows.row_indices(i);
    for (size_t k = 0; k < at.size(); ++k) z[at[k]] = rows.row_values(i)[k];
    map.add(z, rows.label(i), sum.data());
  }
  return sum;
}

}  // namespace parley::learn
