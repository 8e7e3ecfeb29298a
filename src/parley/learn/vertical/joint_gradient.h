// V-B: gradient descent on squared loss over columns in several places, of which only noisy
// gradients are opened, each to the party that moves by it (theory (V3)).
//
// With d the whole row of a record, |d| <= R, R^2 = sum of R_m^2, and x the whole model, |x_m| <=
// B_m, the sum over records of d (d.x - y), |y| <= 1, is what is released, in M parts, with noise.
//
// Claim. Replacing one record, its label included, moves it by at most
//     D = R^2 X + 2 R + 2 R M 2^-f,     X = sqrt(sum of B_m^2).
// Proof. The sum moves by (d d' - e e') x - (d y - e z) for records (d, y) and (e, z). The matrix
// is symmetric, of rank 2, with one eigenvalue in [0, R^2] and one in [-R^2, 0], so the first part
// is at most R^2 |x|; the second at most 2 R. The scores of M parties are rounded to 2^-f, by half
// of it each, and carry an error of computer numbers that is smaller still: at most M 2^-f for a
// record, times its length, in either world. End of proof. Every x is a function of noisy sums that
// nobody knows without their noise: adaptive composition.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace parley::learn {

/// Public. In real units: integers of IntegerRows times 2^-bits, and `scale` times that is the
/// feature.
struct JointPlan {
  std::vector<double> row_norms{};  // R_m, after scaling
  std::vector<double> balls{};      // B_m
  int fraction = 24;                // f
  int bits = 0;                     // of the integer rows
  double scale = 1;                 // public factor of all features, which goes into the units
  uint64_t rows = 0;
  double label = 0;  // of moments: what a label of 1 is in units; 0 means 2^bits

  double row_norm() const;    // R
  double model_norm() const;  // X
  /// What one unit of an opened gradient is worth: scale 2^-(bits + fraction).
  double unit() const;
  /// D in such units, rounded up.
  double sensitivity() const;
  /// Do all sums, with noise of this deviation in units, stay below 2^63?
  bool fits(double deviation) const;
};

/// What a party does with its part of the gradients.
struct JointSteps {
  double step = 3;  // on the mean gradient
  double momentum = 0.8;
  double l2 = 0;  // mean form
  int64_t rounds = 20;
  int64_t averaged = 5;  // the last ones
};

class PartyDescent {
 public:
  /// No coefficient is larger than `box`.
  PartyDescent(const JointSteps& steps, size_t columns, double ball,
               double box = std::numeric_limits<double>::infinity());
  /// `gradient` is the noisy sum over `rows` records, in real units.
  void take(std::span<const double> gradient, uint64_t rows);
  std::span<const double> point() const { return x_; }
  /// The average so far.
  std::vector<double> model() const;

 private:
  JointSteps steps_;
  double ball_, box_;
  int64_t taken_ = 0;
  std::vector<double> x_, velocity_, sum_;
};

/// The class probability of a score that was fitted to -1 and +1.
double probability_of(double score);

}  // namespace parley::learn
