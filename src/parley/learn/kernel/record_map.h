// The record map: defines the integer gradient of one record. kernel.h computes the same integers
// faster.
//
// It is a pure function of (theta, z, y): the same bits wherever the row is stored, on any thread
// and at any optimisation level. Privacy needs this, not only replay: if replacing one record
// changed the rounding of others, the sensitivity proof would be void. Therefore there is one fixed
// order of operations (column j goes to lane j mod 8, then the tree l + (l+4), l + (l+2), l +
// (l+1)), with explicit fused multiply-adds, no libm, no contraction, and selection instead of
// branches on data. The proof of the bound is in lattice.h.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "parley/base/math/norm.h"
#include "parley/base/result.h"
#include "parley/data/rows.h"
#include "parley/learn/kernel/lattice.h"
#include "parley/learn/loss.h"

#ifndef PARLEY_CHECK_RECORDS
#define PARLEY_CHECK_RECORDS 0
#endif

namespace parley::learn {

inline constexpr bool kCheckRecords = PARLEY_CHECK_RECORDS;  // On in test builds.

/// Added to a number below 2^51 it leaves the nearest integer, ties to even, in the low bits.
inline constexpr double kShift = 0x1.8p52;

/// The sum of the lanes, in the one order of every record.
inline double lane_sum(const double (&lane)[data::kLanes]) {
  const double a = lane[0] + lane[4], b = lane[1] + lane[5];
  const double c = lane[2] + lane[6], d = lane[3] + lane[7];
  return (a + c) + (b + d);
}

/// The largest sum of |q_j|, or of q_j^2 in L2, that a record may have: an integer, as they are.
/// The squares are exact in doubles wherever they are near it for grid_bits <= 26, and safe above.
template <class Norm>
double record_limit(double bound) {
  return std::is_same_v<Norm, L1> ? bound : std::floor(std::nextafter(bound * bound, 1e300));
}

/// The record map at one theta.
template <Loss L, class Norm, bool kCheck = kCheckRecords>
class RecordMap {
 public:
  /// `theta` has lattice.dimension() coordinates, all finite.
  RecordMap(const L& loss, const Lattice& lattice, std::span<const double> theta)
      : loss_(loss),
        clip_(lattice.shortened<Norm>()),
        inverse_gamma_(1 / lattice.gamma()),
        bound_(lattice.bound<Norm>()),
        theta_(theta.begin(), theta.end()) {
    check(theta.size() == lattice.dimension());
  }

  size_t dimension() const { return theta_.size(); }

  /// Adds the integer gradient of the record (z, y) to `sum`; both have dimension() entries.
  void add(const double* z, double y, int64_t* sum) const {
    add(theta_.size(), [](size_t i) { return i; }, z, y, sum);
  }

  /// The same for a record of which only `values`, in the columns `at`, are not zero: bit for bit
  /// what the whole record would give, since a zero changes no lane.
  void add(std::span<const uint32_t> at, const double* values, double y, int64_t* sum) const {
    add(at.size(), [&](size_t i) { return at[i]; }, values, y, sum);
  }

 private:
  template <class Column>
  void add(size_t count, const Column& column, const double* values, double y, int64_t* sum) const {
    double score[data::kLanes] = {}, norm[data::kLanes] = {};
    for (size_t i = 0; i < count; ++i) {
      const size_t j = column(i);
      double& size = norm[j % data::kLanes];
      score[j % data::kLanes] = std::fma(theta_[j], values[i], score[j % data::kLanes]);
      size = std::is_same_v<Norm, L1> ? size + std::fabs(values[i])
                                      : std::fma(values[i], values[i], size);
    }
    // Scaling by a power of two is exact, so one rounding is left: that to the lattice.
    const double slope = clipped_slope(lane_sum(score), y, lane_sum(norm)) * inverse_gamma_;
    double size = 0;
    for (size_t i = 0; i < count; ++i) {
      const int64_t q = std::bit_cast<int64_t>(std::fma(slope, values[i], kShift)) -
                        std::bit_cast<int64_t>(kShift);
      sum[column(i)] += q;
      if constexpr (kCheck)
        size += std::is_same_v<Norm, L1> ? std::fabs(double(q)) : double(q) * double(q);
    }
    if constexpr (kCheck) check(size <= record_limit<Norm>(bound_));
  }

  double clipped_slope(double score, double y, double norm) const {
    if constexpr (std::is_same_v<Norm, L2>) norm = std::sqrt(norm);
    double slope = loss_.slope(score, y);
    slope = std::fabs(slope) <= 0x1.fffffffffffffp1023 ? slope : 0.0;  // Not finite: no gradient.
    const double limit = norm > 0 ? clip_ / norm : 0.0;
    slope = slope > limit ? limit : slope;
    return slope < -limit ? -limit : slope;
  }

  L loss_;
  double clip_;
  double inverse_gamma_;
  double bound_;
  std::vector<double> theta_;
};

}  // namespace parley::learn
