#include "parley/forecast/propagate/response.h"

#include <algorithm>
#include <cmath>

#include "parley/base/result.h"

namespace parley::forecast {
namespace {

/// Excess above the floor is c variance^power between two points.
struct Power {
  double exponent = 1, at = 1, value = 0;
  double operator()(double x) const { return value * std::pow(x / at, exponent); }
  double inverse(double y) const { return at * std::pow(y / value, 1 / exponent); }
};

}  // namespace

Response::Response(std::vector<std::pair<double, double>> points) : points_(std::move(points)) {
  check(points_.size() >= 2 && points_.front().first == 0);
  for (size_t k = 1; k < points_.size(); ++k) {  // More noise is never taken to help.
    check(points_[k].first > points_[k - 1].first);
    const double least = points_[k - 1].second;
    points_[k].second = std::max(points_[k].second, least + 1e-12 * std::fabs(least) + 1e-300);
  }
}

Response Response::line(double floor, double gain) {
  return Response({{0, floor}, {1, floor + gain}});
}

Response Response::table(std::vector<std::pair<double, double>> points) {
  return Response(std::move(points));
}

namespace {

/// The power law that holds at `x`, or, with `by_value`, where the excess above the floor is `x`.
Power piece(const std::vector<std::pair<double, double>>& points, double x, bool by_value) {
  const double floor = points.front().second;
  const auto value = [&](size_t k) { return points[k].second - floor; };
  size_t k = 1;
  while (k + 1 < points.size() && (by_value ? value(k) : points[k].first) < x) ++k;
  if (k == 1) return {1, points[1].first, value(1)};
  const double exponent =
      std::log(value(k) / value(k - 1)) / std::log(points[k].first / points[k - 1].first);
  return {std::max(exponent, 1e-3), points[k].first, value(k)};
}

}  // namespace

double Response::at(double variance) const {
  return floor() + piece(points_, variance, false)(variance);
}

double Response::gain(double variance) const {
  const Power power = piece(points_, variance, false);
  if (power.exponent == 1) return power.value / power.at;
  return power.exponent * power(variance) / variance;
}

double Response::variance_for(double excess) const {
  const double above = excess - floor();
  return above <= 0 ? 0 : piece(points_, above, true).inverse(above);
}

Response Response::scaled(double factor) const {
  auto points = points_;
  for (auto& [variance, excess] : points) excess *= factor;
  return Response(std::move(points));
}

}  // namespace parley::forecast
