// From Renyi divergence to (epsilon, delta), tightly (Canonne, Kamath, Steinke 2020, Proposition
// 12): with RDP(alpha) of order alpha > 1,
//
//   delta <= exp((alpha-1)(RDP(alpha) - eps)) (1-1/alpha)^alpha / (alpha-1).
//
// Every alpha gives a valid bound, so an imperfect minimum over alpha is on the safe side.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "parley/privacy/units.h"

namespace parley::privacy {

/// An order of Renyi divergence, alpha = 1 + exp(x), and the logarithms that every bound needs.
struct Order {
  explicit Order(double at)
      : x(at),
        above_one(std::exp(x)),
        alpha(1 + above_one),
        log_ratio(std::log(above_one / alpha)),
        log_alpha(std::log(alpha)) {}
  double x, above_one, alpha, log_ratio, log_alpha;
};

inline constexpr double kOrderStep = 0.05;

/// Orders with x from -8 to 14, computed once: a conversion looks at each of them.
inline const std::vector<Order>& order_grid() {
  static const std::vector<Order> grid = [] {
    std::vector<Order> orders;
    for (double x = -8; x <= 14; x += kOrderStep) orders.emplace_back(x);
    return orders;
  }();
  return grid;
}

/// The minimum of `bound` over orders. A grid, then a golden section around its best point.
template <class Bound>
double minimum_over_orders(const Bound& bound) {
  const Order* best = nullptr;
  double least = 0;
  for (const Order& order : order_grid())
    if (const double value = bound(order); best == nullptr || value < least)
      best = &order, least = value;
  double low = best->x - kOrderStep, high = best->x + kOrderStep;
  constexpr double kGolden = 0.6180339887498949;
  double left = high - kGolden * (high - low), right = low + kGolden * (high - low);
  double at_left = bound(Order(left)), at_right = bound(Order(right));
  for (int i = 0; i < 60; ++i) {
    if (at_left < at_right) {
      high = right, right = left, at_right = at_left;
      at_left = bound(Order(left = high - kGolden * (high - low)));
    } else {
      low = left, left = right, at_left = at_right;
      at_right = bound(Order(right = low + kGolden * (high - low)));
    }
  }
  return std::min({least, at_left, at_right});
}

/// `renyi(alpha)` is never below the divergence; infinity where it is not known.
template <class Renyi>
double epsilon_of(const Renyi& renyi, Delta delta) {
  const double log_delta = std::log(delta.value());
  const double least = minimum_over_orders([&](const Order& o) {
    return renyi(o.alpha) + o.log_ratio - (log_delta + o.log_alpha) / o.above_one;
  });
  // exp, log and the sum err by a few units in the last place: stay above them.
  return std::max(0.0, least) * (1 + 0x1p-46) + 0x1p-60;
}

template <class Renyi>
double delta_of(const Renyi& renyi, double epsilon) {
  const double least = minimum_over_orders([&](const Order& o) {
    return o.above_one * (renyi(o.alpha) - epsilon) + o.alpha * o.log_ratio - o.x;
  });
  return std::min(1.0, std::exp(least) * (1 + 0x1p-46 * (1 + std::abs(least))));
}

}  // namespace parley::privacy
