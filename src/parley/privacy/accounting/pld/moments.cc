#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "parley/privacy/accounting/pld/composition.h"

namespace parley::privacy {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr size_t kLanes = 8;  // moments at a time: as many as hide the latency of one
using Lanes = std::array<double, kLanes>;

/// Horner's rule from the end where exp(t loss) is small, so that nothing overflows; all t of one
/// sign.
Lanes log_moments(const LossGrid& grid, const Lanes& t) {
  const size_t n = grid.mass.size();
  const bool up = t[0] >= 0;
  Lanes ratio, sum{}, result;
  for (size_t k = 0; k < kLanes; ++k) ratio[k] = std::exp(-std::abs(t[k]) * grid.step);
  for (size_t i = 0; i < n; ++i) {
    const double mass = grid.mass[up ? i : n - 1 - i];
    for (size_t k = 0; k < kLanes; ++k) sum[k] = sum[k] * ratio[k] + mass;
  }
  const int64_t end = up ? grid.first + static_cast<int64_t>(n) - 1 : grid.first;
  for (size_t k = 0; k < kLanes; ++k) {
    const double exponent = t[k] * static_cast<double>(end) * grid.step;
    // The ratio's rounding counts once for every step that a mass is carried.
    result[k] = exponent + std::log(sum[k]) + 0x1p-51 * static_cast<double>(n + 2) +
                0x1p-50 * std::abs(exponent);
  }
  return result;
}

struct Spread {
  double mean = 0, variance = 0, lowest = 0, highest = 0;
};

Spread spread_of(const Components& components) {
  Spread all;
  for (const auto& [grid, count] : components) {
    double mass = 0, mean = 0, square = 0;
    for (size_t i = 0; i < grid.mass.size(); ++i) {
      const double loss = static_cast<double>(grid.first + static_cast<int64_t>(i)) * grid.step;
      mass += grid.mass[i];
      mean += grid.mass[i] * loss;
      square += grid.mass[i] * loss * loss;
    }
    all.mean += count * mean;
    all.variance += count * std::max(square - mean * mean, 0.0);
    all.lowest += count * static_cast<double>(grid.first) * grid.step;
    all.highest += count *
                   static_cast<double>(grid.first + static_cast<int64_t>(grid.mass.size())) *
                   grid.step;
  }
  return all;
}

struct Moment {
  double t, log;
};

/// At many t of one sign: around the one for the spread of the sum. Beyond 1 / step they would say
/// more about this grid than about the losses.
std::vector<Moment> moments_of(const Components& components, const Spread& spread, double sign) {
  const double step = components.front().grid.step;
  const double unit = 1 / std::max(std::sqrt(spread.variance), step);
  std::vector<Moment> moments;
  for (int j = -32; j < 96; j += kLanes) {
    Lanes t, sum{};
    for (size_t k = 0; k < kLanes; ++k) t[k] = sign * unit * std::exp2((j + int(k)) / 8.0);
    if (std::abs(t[0]) * step > 1) break;
    for (const auto& [grid, count] : components) {
      const Lanes one = log_moments(grid, t);
      for (size_t k = 0; k < kLanes; ++k) sum[k] += count * one[k];
    }
    for (size_t k = 0; k < kLanes; ++k) moments.push_back({t[k], sum[k]});
  }
  return moments;
}

/// A window, and the point of the Chernoff bound that allows it; 0 if none was needed.
struct Width {
  double width, at;
};

/// exp(moment + t place - |t - tilt| width) is to be negligible for some t, which is above the tilt
/// where t is positive.
Width narrowest(Width known, const std::vector<Moment>& moments, double place, double negligible,
                double tilt) {
  for (const auto& [t, moment] : moments) {
    const double width = (moment + t * place - negligible) / std::abs(t - tilt);
    if ((t < 0 || t > tilt) && width < known.width) known = {width, t};
  }
  return known;
}

/// The tight conversion (conversion.h) of one moment has delta = exp(moment - t eps + this).
double conversion(double t) { return t * std::log(t / (1 + t)) - std::log1p(t); }

}  // namespace

double log_moment(const Components& components, double t) {
  double sum = 0;
  Lanes all;
  all.fill(t);
  for (const auto& [grid, count] : components) sum += count * log_moments(grid, all)[0];
  return sum;
}

double renyi_epsilon(const Components& components, double log_delta) {
  const Spread spread = spread_of(components);
  double least = spread.highest;
  for (const auto& [t, moment] : moments_of(components, spread, 1))
    least = std::min(least, (moment + conversion(t) - log_delta) / t);
  return std::max(least, 0.0);
}

double renyi_log_delta(const Components& components, double epsilon) {
  double least = 0;
  for (const auto& [t, moment] : moments_of(components, spread_of(components), 1))
    least = std::min(least, moment + conversion(t) - t * epsilon);
  return least;
}

Plan plan_for(const Components& components, double epsilon, double log_delta, double margin) {
  const double negligible = log_delta - 21;  // 1e-9 of delta
  const Spread spread = spread_of(components);
  const std::vector<Moment> moments = moments_of(components, spread, 1);
  const std::vector<Moment> mirrored = moments_of(components, spread, -1);
  Plan plan{.top = spread.highest};
  double best = 0, best_tilt = 0;
  for (const auto& [t, moment] : moments) {
    if (moment - t * epsilon < best) best = moment - t * epsilon, best_tilt = t;
    const double top = (moment - negligible) / t;
    if (top < plan.top) plan.top = top, plan.above = t;
  }
  plan.lower = best_tilt > 0 ? std::max(0.0, epsilon - margin / best_tilt) : 0;
  plan.width = kInfinity;
  const auto consider = [&](double tilt) {
    Width found{spread.highest, 0};  // Then nothing comes back above 0.
    const Width right = narrowest(found, moments, -plan.lower, negligible, tilt);
    found = {tilt > 0 ? -negligible / tilt : kInfinity, 0};
    const Width left = narrowest(found, mirrored, -plan.top, negligible, tilt);
    const double width = std::max(right.width, std::min(left.width, plan.top - spread.lowest));
    if (width < plan.width)
      plan.tilt = tilt, plan.right = right.at, plan.left = -left.at, plan.width = width;
  };
  // Rounding grows with the distance from the best tilt; where tails are heavy, a smaller one
  // has a much narrower window.
  if (best > -4) consider(0);
  for (const auto& [t, moment] : moments)
    if (moment - t * epsilon < best + 4) consider(t);
  const double ends = 4 * components.front().grid.step;  // A finer grid may end elsewhere.
  plan.width = std::max(plan.width, plan.top - plan.lower) + 2 * ends;
  plan.top += ends;
  return plan;
}

size_t window_points(double width, double step) {
  return std::bit_ceil(static_cast<size_t>(std::max(16.0, std::ceil(width / step))));
}

}  // namespace parley::privacy
