// The functions and constants that a convex loss of a linear score u = theta . z must have.
#pragma once

#include <concepts>
#include <limits>
#include <string_view>

namespace parley::learn {

/// A stated constant that does not exist: the slope jumps, or grows without end.
inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// The owner's kernels call slope() and value() on private records, so they must be pure functions
/// of their arguments made of exactly rounded operations, without branches: no libm, no table
/// filled at run time. curvature() is for public rows and simulations.
template <class L>
concept Loss = std::equality_comparable<L> && requires(const L& loss, double score, double label) {
  { L::kName } -> std::convertible_to<std::string_view>;
  { L::kTwoClasses } -> std::convertible_to<bool>;  // labels are -1 and +1
  { loss.value(score, label) } -> std::same_as<double>;
  { loss.slope(score, label) } -> std::same_as<double>;      // d value / d score
  { loss.curvature(score, label) } -> std::same_as<double>;  // d slope / d score, almost everywhere
  { loss.smoothness() } -> std::same_as<double>;             // smallest bound of curvature
  { loss.lipschitz() } -> std::same_as<double>;              // smallest bound of |slope|
};

/// How much a record of each class counts. The clip acts on the weighted gradient, so weights
/// change what is learnt and not what is promised.
struct ClassWeights {
  double negative = 1, positive = 1;
  double of(double label) const { return label > 0 ? positive : negative; }
  double largest() const { return negative < positive ? positive : negative; }
  bool operator==(const ClassWeights&) const = default;
};

}  // namespace parley::learn
