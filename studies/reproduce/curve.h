// Measured curves and single numbers on their way into a figure.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "studies/reproduce/estimate.h"

namespace parley::reproduce {

struct Curve {
  std::vector<double> x{}, y{}, error{};
  void add(double at, const Estimate& estimate);
  Estimate slope() const { return log_slope(x, y, error); }
  /// Only where y is at least `least`.
  Estimate slope_above(double least) const;
  /// From point `first` to point `last`.
  Estimate slope_between(size_t first, size_t last) const;
  Series series(std::string name, bool sound = false) const;
  /// A line of this slope through the middle point, as the papers draw their bounds.
  Series line(double slope, std::string name = "") const;
  /// A formula at the same places.
  Series theory(std::string name, const std::function<double(double)>& at) const;
};

Measure measured(std::string quantity, const Estimate& estimate);
/// Told for comparison; decides nothing.
Measure beside(std::string quantity, const Estimate& estimate);
/// One of the comparisons that a tally counts: it holds from `least` to `most`.
Measure compared(std::string tally, std::string quantity, const Estimate& estimate, double least,
                 double most);
inline constexpr double kAny = std::numeric_limits<double>::infinity();
/// Within these bounds, and decides by itself.
Measure between(std::string quantity, const Estimate& estimate, double least, double most);

/// Where a file has fewer records of each owner than the claim names, the budget that gives the
/// same noise on a mean: n epsilon is the claim's. On stand-ins, epsilon itself.
double matched(const Study& study, double epsilon, double named, double size);
std::vector<double> matched(const Study& study, const std::vector<double>& epsilons, double named,
                            double size);
/// What a reader must know of that; empty where nothing was changed.
std::string matched_words(const Study& study, double named, double size);

/// The papers' slope of -2, give or take 0.1.
Measure slope_of_two(std::string quantity, const Estimate& slope);
inline Measure slope_of_two(std::string quantity, const Curve& curve) {
  return slope_of_two(std::move(quantity), curve.slope());
}

std::string epsilon_text(double epsilon);  // "ε = 0.316"

}  // namespace parley::reproduce
