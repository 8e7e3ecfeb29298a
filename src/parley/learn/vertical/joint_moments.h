// V-C: the second moments of whole records over columns in several places, opened once, with noise
// (theory (V4)). Any number of models can be fitted to them.
//
// Records are integers already (integer_rows.h): of a record with entries 2^bits d, |d| <= R, and
// label 2^bits y, |y| <= 1, the sums of all d_j d_k, j <= k, and d_j y are released in units of
// 4^-bits. Products of integers: nothing is rounded any more.
//
// Claim. With noise of variance v on the diagonal and v/2 beside it and with the label, replacing
// one record, its label included, costs D^2 / (2v) in zCDP, D = 4^bits sqrt(8) R for R <= 1 and
// 4^bits sqrt(2) (R^2 + 1) for R >= 1.
// Proof. An entry that moves by w costs w^2 over twice its variance; so all together cost |w|^2 /
// (2v), with entries off the diagonal and with the label multiplied by sqrt(2). That this norm is
// at most D for two records is proved in kernel/statistics_map.h. End of proof.
//
// Who adds the noise: of the products of an owner's own columns this owner, which knows them
// anyway; of products of two owners' columns the dealer, so that neither knows it.
#pragma once

#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "parley/learn/vertical/joint_gradient.h"

namespace parley::learn {

/// D, rounded up.
double moments_sensitivity(const JointPlan& plan);

/// Do all sums, with noise of this deviation in units, stay below 2^63?
bool moments_fit(const JointPlan& plan, double deviation);

/// Where the numbers of a release lie: party by party, first the upper triangle of its own columns,
/// row by row, and the products with the label if it holds that; then, for every later party, the
/// products of its columns with that party's, a label being the last of its holder's columns.
class MomentsLayout {
 public:
  MomentsLayout(std::vector<size_t> columns, size_t label_holder);

  size_t parties() const { return columns_.size(); }
  size_t columns(size_t party) const { return columns_[party]; }
  /// With the label.
  size_t width(size_t party) const { return columns_[party] + (party == label_holder_ ? 1 : 0); }
  size_t own(size_t party) const;
  size_t with_later(size_t party) const;
  size_t size() const;
  /// The model's features lie in the order of the parties.
  size_t features() const;

  /// As moments_minimum takes them: means over `rows` records. A label of 1 is `label` units, or,
  /// if that is 0, 2^bits, as a feature of 1 is.
  std::vector<double> moments(std::span<const int64_t> released, int bits, uint64_t rows,
                              double label = 0) const;

 private:
  std::vector<size_t> columns_;
  size_t label_holder_;
};

/// What is to be done with a release.
struct MomentsFit {
  double l2 = 0, box = 1;
  double deviation = 0;                     // of the noise on the diagonal, in units
  double beside = 1 / std::numbers::sqrt2;  // of it off the diagonal, as a part of that
};

/// The coefficients of all parties, one after the other: eigenvalues below what noise does are
/// lifted to it (learn/statistics.h).
std::vector<double> fit_moments(const MomentsLayout& layout, const JointPlan& plan,
                                const MomentsFit& fit, std::span<const int64_t> released);

}  // namespace parley::learn
