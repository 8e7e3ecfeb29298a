// The owner's fused pass: score, slope, clip, round to the lattice, sum in int64.
//
// A record's integer gradient is a pure function of (theta, z, y): the same bits wherever the row
// lies, on any thread and at any optimisation level. That is needed for privacy, not only for
// replay: if replacing one record moved the rounding of others, the sensitivity proof would be
// void. Hence one written order (column j goes to lane j mod 8, then the tree l + (l+4), l + (l+2),
// l + (l+1)), explicit fused multiply-adds, no libm, no contraction, and selection instead of
// branches on data. The proof of the bound is in lattice.h.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "parley/base/norm.h"
#include "parley/base/result.h"
#include "parley/learn/data/rows.h"
#include "parley/learn/lattice.h"
#include "parley/learn/loss.h"

#ifndef PARLEY_CHECK_RECORDS
#define PARLEY_CHECK_RECORDS 0
#endif

namespace parley::learn {

inline constexpr bool kCheckRecords = PARLEY_CHECK_RECORDS;  // On in test builds.

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
    theta_.resize((theta.size() + kLanes - 1) / kLanes * kLanes);
  }

  size_t stride() const { return theta_.size(); }

  /// Adds the integer gradient of the record (z, y) to `sum`; z and sum have stride() entries.
  void add(const double* z, double y, int64_t* sum) const {
    double score[kLanes] = {}, norm[kLanes] = {};
    for (size_t j = 0; j < theta_.size(); j += kLanes)
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const double value = z[j + lane];
        score[lane] = std::fma(theta_[j + lane], value, score[lane]);
        norm[lane] = std::is_same_v<Norm, L1> ? norm[lane] + std::fabs(value)
                                              : std::fma(value, value, norm[lane]);
      }
    const double slope = clipped_slope(tree(score), y, tree(norm));
    int64_t size = 0;
    double squares = 0;
    for (size_t j = 0; j < theta_.size(); ++j) {
      const int64_t q = nearest((slope * z[j]) * inverse_gamma_);
      sum[j] += q;
      if constexpr (kCheck) size += std::abs(q), squares += double(q) * double(q);
    }
    if constexpr (kCheck) {
      if constexpr (std::is_same_v<Norm, L1>) check(double(size) <= bound_);
      if constexpr (std::is_same_v<Norm, L2>) check(squares <= square_of_bound());
    }
  }

 private:
  static double tree(const double (&lane)[kLanes]) {
    const double a = lane[0] + lane[4], b = lane[1] + lane[5];
    const double c = lane[2] + lane[6], d = lane[3] + lane[7];
    return (a + c) + (b + d);
  }

  double clipped_slope(double score, double y, double norm) const {
    if constexpr (std::is_same_v<Norm, L2>) norm = std::sqrt(norm);
    double slope = loss_.slope(score, y);
    slope = std::fabs(slope) <= 0x1.fffffffffffffp1023 ? slope : 0.0;  // Not finite: no gradient.
    const double limit = norm > 0 ? clip_ / norm : 0.0;
    slope = slope > limit ? limit : slope;
    return slope < -limit ? -limit : slope;
  }

  /// Round to nearest, ties to even, for |x| < 2^51: adding 1.5 2^52 leaves the integer in the low
  /// bits. |x| is at most 2^32 here, by the clip.
  static int64_t nearest(double x) {
    constexpr double kShift = 0x1.8p52;
    return std::bit_cast<int64_t>(x + kShift) - std::bit_cast<int64_t>(kShift);
  }

  /// floor(bound^2): the squares are integers below 2^53 wherever they are near it (grid_bits <=
  /// 26).
  double square_of_bound() const { return std::floor(std::nextafter(bound_ * bound_, 1e300)); }

  L loss_;
  double clip_;
  double inverse_gamma_;
  double bound_;
  std::vector<double> theta_;
};

/// The integer gradients of records [begin, end), summed; the first lattice.dimension() entries.
template <Loss L, class Norm>
std::vector<int64_t> lattice_sum(const RecordMap<L, Norm>& map, const Rows& rows, size_t begin,
                                 size_t end) {
  check(map.stride() == rows.stride());
  std::vector<int64_t> sum(map.stride());
  for (size_t i = begin; i < end; ++i)
    map.add(rows.values() + i * rows.stride(), rows.labels()[i], sum.data());
  sum.resize(rows.columns());
  return sum;
}

}  // namespace parley::learn
