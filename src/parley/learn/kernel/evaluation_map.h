// What one record adds to the evaluation of a fixed model: its loss, clamped and rounded to a
// lattice, and for two classes whether the model names its class.
//
// Replace-one adjacency. B is the public bound of a record's loss, gamma = 2^(ceil(log2 B) -
// grid_bits) and K = floor(B/gamma). A record adds
//     q = round(min(max(loss, 0), K gamma) / gamma)   and, for classes,   K if it is right, else 0.
//
// Claim. Replacing one record moves the sum by at most K, or for classes by 2K in L1 and sqrt(2) K
// in L2, exactly.
// Proof. K gamma is exact, because K < 2^53 and gamma is a power of two; so is the division by
// gamma. What is rounded therefore lies in [0, K], whose ends are integers, and so does q: the
// clamp is by comparisons that also send a NaN to K. Both entries are integers in [0, K], for the
// old record and for the new; their differences are at most K in size, and the sum of the integers
// has no rounding. End of proof. (A gradient may point either way and counts twice; a loss does
// not.)
//
// Like record_map.h it is a pure function of (theta, z, y), without branches on data.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "parley/data/rows.h"
#include "parley/data/sparse_rows.h"
#include "parley/learn/kernel/lattice.h"
#include "parley/learn/kernel/record_map.h"
#include "parley/learn/loss.h"

namespace parley::learn {

/// The public bound of a record's loss: for a number, what predicting the centre of the target may
/// cost; for a class, what a score of 1 for the wrong one does. A useful model is seldom worse.
inline double loss_bound(const Losses& loss, double label_bound) {
  return std::visit(
      [&]<class L>(const L& known) {
        const auto at = [&](double y) { return known.value(L::kTwoClasses ? -y : 0.0, y); };
        return std::fmax(at(label_bound), at(-label_bound));
      },
      loss);
}

class EvaluationMap {
 public:
  /// `label_bound` is the largest label in size; 1 for classes.
  static Result<EvaluationMap> make(const Losses& loss, double label_bound, int grid_bits) {
    const auto lattice = Lattice::make(loss_bound(loss, label_bound), grid_bits, 1);
    if (lattice) return EvaluationMap(loss, *lattice);
    return Error{Code::kInvalid,
                 "the loss of a record has no usable bound: the target's bounds, its scale or the "
                 "class weights are too large or too small",
                 "Scale the target, or leave out the evaluation with evaluate = 0.",
                 {.key = "privacy.evaluate"}};
  }

  /// How many numbers an evaluation has: the loss, and for classes who was right.
  size_t size() const { return two_classes(loss_) ? 2 : 1; }
  double gamma() const { return gamma_; }
  /// The most that a record's loss counts.
  double bound() const { return steps_ * gamma_; }
  const Losses& loss() const { return loss_; }

  /// How far one replaced record moves the sum, in lattice units.
  template <class Norm>
  double sensitivity() const {
    if (size() == 1) return steps_;
    return std::is_same_v<Norm, L1> ? 2 * steps_
                                    : std::ceil(steps_ * std::sqrt(2.0) * (1 + 0x1p-50));
  }

  /// Adds the integers of a record with this score and label to `sum`, which has size() entries.
  template <Loss L>
  void add(const L& loss, double score, double y, int64_t* sum) const {
    double value = loss.value(score, y);
    value = value < bound() ? value : bound();  // NaN too.
    value = value > 0 ? value : 0.0;
    sum[0] += std::bit_cast<int64_t>(std::fma(value, 1 / gamma_, kShift)) -
              std::bit_cast<int64_t>(kShift);
    if constexpr (L::kTwoClasses)
      sum[1] += (score > 0) == (y > 0) ? static_cast<int64_t>(steps_) : 0;
  }

 private:
  EvaluationMap(const Losses& loss, const Lattice& lattice)
      : loss_(loss), gamma_(lattice.gamma()), steps_(lattice.bound<L1>()) {}

  Losses loss_;
  double gamma_;
  double steps_;  // K
};

inline double score_of(std::span<const double> theta, const data::Rows& rows, size_t i) {
  double lane[data::kLanes] = {};
  const auto z = rows.row(i);
  for (size_t j = 0; j < theta.size(); ++j)
    lane[j % data::kLanes] = std::fma(theta[j], z[j], lane[j % data::kLanes]);
  return lane_sum(lane);
}

inline double score_of(std::span<const double> theta, const data::SparseRows& rows, size_t i) {
  double lane[data::kLanes] = {};
  const auto at = rows.row_indices(i);
  for (size_t k = 0; k < at.size(); ++k)
    lane[at[k] % data::kLanes] =
        std::fma(theta[at[k]], rows.row_values(i)[k], lane[at[k] % data::kLanes]);
  return lane_sum(lane);
}

/// The integers of rows [begin, end) at theta, summed.
template <class SomeRows>
std::vector<int64_t> evaluation_sum(const EvaluationMap& map, std::span<const double> theta,
                                    const SomeRows& rows, size_t begin, size_t end) {
  check(theta.size() == rows.columns());
  std::vector<int64_t> sum(map.size());
  std::visit(
      [&](const auto& loss) {
        for (size_t i = begin; i < end; ++i)
          map.add(loss, score_of(theta, rows, i), rows.label(i), sum.data());
      },
      map.loss());
  return sum;
}

}  // namespace parley::learn
