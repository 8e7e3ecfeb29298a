#include "studies/reproduce/estimate.h"

#include <cmath>

namespace parley::reproduce {

Estimate log_slope(std::span<const double> x, std::span<const double> y,
                   std::span<const double> error) {
  const double n = double(x.size());
  double center = 0, spread = 0, slope = 0, variance = 0;
  for (double value : x) center += std::log(value) / n;
  for (double value : x) spread += std::pow(std::log(value) - center, 2);
  for (size_t k = 0; k < x.size(); ++k) {
    const double weight = (std::log(x[k]) - center) / spread;
    slope += weight * std::log(y[k]);
    variance += std::pow(weight * error[k] / y[k], 2);
  }
  return {slope, std::sqrt(variance)};
}

Estimate ratio(Estimate a, Estimate b) {
  const double value = a.value / b.value;
  return {value, std::fabs(value) * std::hypot(a.error / a.value, b.error / b.value)};
}

Estimate crossing(std::span<const double> x, std::span<const double> y,
                  std::span<const double> error, std::span<const double> level) {
  size_t k = x.size();
  while (k > 0 && y[k - 1] < level[k - 1]) --k;
  if (k == 0 || k == x.size()) return {};
  const double above = std::log(y[k - 1] / level[k - 1]), below = std::log(y[k] / level[k]);
  const double step = std::log(x[k] / x[k - 1]), share = above / (above - below);
  const double value = x[k - 1] * std::exp(step * share);
  // d share / d above = -below / (above - below)^2, d share / d below = above / (above - below)^2.
  const double square = std::pow(above - below, 2);
  const double of_share =
      std::hypot(below / square * error[k - 1] / y[k - 1], above / square * error[k] / y[k]);
  return {value, value * step * of_share};
}

Estimate median(const sim::Spread& spread, uint64_t runs) {
  const double deviation = (spread.p75 - spread.p25) / 1.349;
  return {spread.p50, 1.2533 * deviation / std::sqrt(double(runs))};
}

}  // namespace parley::reproduce
