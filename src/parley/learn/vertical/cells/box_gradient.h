// Rounds without a dealer: gradients of the squared loss over columns in several places, whose rows
// are cells and whose coefficients lie on a grid within a box (theory (V3b)).
//
// Rows are whole numbers, and w = 2^row_bits of them make a feature of 1. Owner m has coefficients
// n[m], whole numbers with -H <= n_j < H, which stand for n_j box / H. A record with row d, all
// owners' together, and label y has the score
//     s = d . n - kappa y
// and adds d s to the gradient, of which every owner learns its own part, with noise of all. All of
// this is exact: nothing is rounded or cut once the rows are chosen.
//
// What bounds it, whatever an owner does: with r_a the largest part that attribute a can add to a
// row, R^2 the sum of r_a^2 and S = H (sum of r_a) + kappa Y, where Y is the largest label, a row
// is no longer than R and a score no larger than S.
//
// Claim. Replacing a record, its label included, moves the gradients of all owners together by at
// most
//     two owners:       D = min(R^2 H sqrt(u), 2 R H sum of r_a) + 2 R kappa Y
//     three and more:   D = 2 R S
// where u counts two for each category and one for each number and for the bias.
// Proof, two owners. Records (d, y) and (e, z) differ by (d d' - e e') n - kappa (d y - e z). The
// matrix has norm at most R^2 and only meets the columns that d or e use: two of a category, one of
// a number, so at most u coefficients, each at most H. Also |d d' n| <= R H sum of r_a, for either.
// The labels move it by 2 R kappa Y. If one owner deviates, its row is the same with the one other
// owner throughout, and its coefficients only add to what is fixed: a special case.
// Proof, three and more. An owner that deviates may use other rows, and other coefficients, with
// every other one. So each owner m has scores of its own, |s| <= S, and its part moves by |d_m s -
// e_m t| <= 2 R_m S, R_m being its longest row; the squares of R_m add up to R^2. End of proof.
// Every n is a function of noisy sums: adaptive composition.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parley/data/schema.h"
#include "parley/learn/vertical/cells/cell_columns.h"

namespace parley::learn {

/// What rows can be, over all owners, in units.
struct RowReach {
  double squares = 0;  // R^2
  double sum = 0;      // of r_a
  double largest = 0;  // r_a
  double met = 0;      // u

  /// With a bias, of which 2^bits are 1.
  static RowReach of(const data::Schema& schema, int bits);
};

/// Public, and the same for all owners.
struct BoxGradient {
  double box = 0;
  int bits = 12;     // H = 2^(bits - 1)
  int row_bits = 0;  // w = 2^row_bits
  RowReach reach{};
  LabelGrid label{};
  int64_t kappa = 0;  // that makes a label of 1 a score of about 1
  size_t owners = 0;
  uint64_t rows = 0;

  /// With the label's grid and kappa.
  static BoxGradient of(const data::Schema& schema, double box, int bits, size_t owners,
                        uint64_t rows);

  int64_t half() const { return int64_t{1} << (bits - 1); }  // H
  /// The nearest coefficients on the grid. They were made of noisy sums: rounding costs nothing.
  std::vector<int64_t> nearest(std::span<const double> x) const;
  /// What one unit of a gradient is worth.
  double unit() const;
  double largest_score() const;  // S
  /// D in units, rounded up.
  double sensitivity() const;
  /// Do all sums, with noise of this deviation, stay below 2^55?
  bool fits(double deviation) const;
};

/// Below this kappa says too little about what a label of 1 is.
inline constexpr int64_t kLeastKappa = 16;

}  // namespace parley::learn
