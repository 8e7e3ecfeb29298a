// Convex losses of a linear score u = theta . z. A new loss is one struct, and one entry in Losses.
#pragma once

#include <concepts>
#include <string_view>
#include <variant>

namespace parley::learn {

/// The owner's kernel calls slope() on private records, so it must be a pure function of its
/// arguments made of exactly rounded operations: no libm, no table filled at run time.
template <class L>
concept Loss = requires(const L& loss, double score, double label) {
  { L::kName } -> std::convertible_to<std::string_view>;
  { loss.value(score, label) } -> std::same_as<double>;
  { loss.slope(score, label) } -> std::same_as<double>;      // d value / d score
  { loss.curvature(score, label) } -> std::same_as<double>;  // d slope / d score, almost everywhere
};

/// (u - y)^2, without the half that other texts use.
struct Squared {
  static constexpr std::string_view kName = "squared";
  double value(double score, double label) const { return (score - label) * (score - label); }
  double slope(double score, double label) const { return 2 * (score - label); }
  double curvature(double, double) const { return 2; }
};
static_assert(Loss<Squared>);

using Losses = std::variant<Squared>;  // The registry: names, dispatch and tests follow from it.

}  // namespace parley::learn
