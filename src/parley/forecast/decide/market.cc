#include "parley/forecast/decide/market.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "parley/base/result.h"

namespace parley::forecast {
namespace {

double two_thirds(double x) { return std::cbrt(x * x); }

double sum_two_thirds(std::span<const double> prices) {
  double sum = 0;
  for (double price : prices) sum += two_thirds(price);
  return sum;
}

}  // namespace

std::vector<double> epsilon_by_value(std::span<const double> prices, double value, double k) {
  std::vector<double> epsilon;
  for (double price : prices) epsilon.push_back(std::cbrt(2 * value * k / price));
  return epsilon;
}

std::vector<double> epsilon_by_target(std::span<const double> prices, double noise, double k) {
  const double common = std::sqrt(k / noise * sum_two_thirds(prices));
  std::vector<double> epsilon;
  for (double price : prices) epsilon.push_back(common / std::cbrt(price));
  return epsilon;
}

std::vector<double> payments_by_value(std::span<const double> prices, double value, double k,
                                      double cap) {
  const auto epsilon = epsilon_by_value(prices, value, k);
  std::vector<double> payments;
  for (size_t i = 0; i < prices.size(); ++i)
    payments.push_back(prices[i] * epsilon[i] +
                       1.5 * std::cbrt(2 * value * k) * (two_thirds(cap) - two_thirds(prices[i])));
  return payments;
}

std::vector<double> payments_by_target(std::span<const double> prices, double noise, double k,
                                       double cap) {
  const auto epsilon = epsilon_by_target(prices, noise, k);
  std::vector<double> payments;
  for (size_t i = 0; i < prices.size(); ++i) {
    const double own = two_thirds(prices[i]), others = sum_two_thirds(prices) - own;
    payments.push_back(prices[i] * epsilon[i] +
                       std::sqrt(k / noise) *
                           (std::pow(two_thirds(cap) + others, 1.5) - std::pow(own + others, 1.5)));
  }
  return payments;
}

namespace {

/// A group and what the learner would buy from it.
struct Purchase {
  std::vector<double> epsilon{};
  double psi = 0, surplus = -std::numeric_limits<double>::infinity();
};

/// The separable problem: each epsilon by its own price, or as much as the owner sells.
Purchase purchase(const Demand& demand, std::span<const Bid> bids, std::span<const size_t> group) {
  double rows = 0;
  for (size_t i : group) rows += bids[i].rows;
  const double k = demand.gain / (rows * rows);
  Purchase found{.epsilon = std::vector<double>(bids.size()),
                 .psi = demand.floor + demand.spread / rows};
  double cost = 0;
  for (size_t i : group) {
    const double wanted = std::cbrt(2 * demand.value * k / bids[i].price);
    const double epsilon = std::min(wanted, bids[i].epsilon_max);
    found.epsilon[i] = epsilon;
    found.psi += k / (epsilon * epsilon);
    cost += bids[i].price * epsilon;
  }
  found.surplus = demand.value * (demand.alone - found.psi) - cost;
  return found;
}

/// The groups that are looked at do not depend on prices: nobody can bid itself into the family.
std::vector<std::vector<size_t>> family(std::span<const Bid> bids) {
  std::vector<size_t> order(bids.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<std::vector<size_t>> groups;
  if (bids.size() > 12) {
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return bids[a].rows > bids[b].rows; });
    for (size_t n = 1; n <= order.size(); ++n)
      groups.emplace_back(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n));
    return groups;
  }
  for (size_t mask = 1; mask < size_t{1} << bids.size(); ++mask) {
    groups.emplace_back();
    for (size_t i : order)
      if (mask >> i & 1) groups.back().push_back(i);
  }
  return groups;
}

/// Buying nothing is always possible.
Purchase best_purchase(const Demand& demand, std::span<const Bid> bids,
                       std::span<const std::vector<size_t>> groups) {
  Purchase best{.epsilon = std::vector<double>(bids.size()), .psi = demand.alone, .surplus = 0};
  for (const auto& group : groups)
    if (auto found = purchase(demand, bids, group); found.surplus > best.surplus)
      best = std::move(found);
  return best;
}

/// c epsilon(c) plus the integral of epsilon over higher prices, up to the cap: epsilon is zero
/// where the owner has dropped out, and does not rise with its price.
double payment(const Demand& demand, std::vector<Bid> bids,
               std::span<const std::vector<size_t>> groups, size_t owner) {
  const double price = bids[owner].price;
  const auto sold = [&](double at) {
    bids[owner].price = at;
    return best_purchase(demand, bids, groups).epsilon[owner];
  };
  const double own = sold(price);
  if (own == 0 || price >= demand.price_cap) return price * own;
  double in = price, out = demand.price_cap;  // Where it drops out, by bisection.
  if (sold(out) == 0)
    while (out - in > 1e-10 * out) (sold((in + out) / 2) > 0 ? in : out) = (in + out) / 2;
  else
    in = out;
  constexpr int kSteps = 200;  // Simpson in log(price), where epsilon is nearly a power
  const double low = std::log(price), width = (std::log(in) - low) / kSteps;
  double sum = 0;
  for (int s = 0; s <= kSteps; ++s) {
    const double at = s == kSteps ? in : std::exp(low + s * width);
    sum += (s == 0 || s == kSteps ? 1 : s % 2 ? 4 : 2) * sold(at) * at;
  }
  return price * own + sum * width / 3;
}

}  // namespace

Deal buy(const Demand& demand, std::span<const Bid> bids) {
  check(demand.value > 0 && demand.gain > 0);
  const auto groups = family(bids);
  Purchase best = best_purchase(demand, bids, groups);
  Deal deal{.epsilon = best.epsilon, .psi = best.psi, .surplus = best.surplus};
  for (size_t i = 0; i < bids.size(); ++i)
    deal.payments.push_back(payment(demand, {bids.begin(), bids.end()}, groups, i));
  return deal;
}

std::vector<double> negotiate(const Demand& demand, std::span<const Bid> bids) {
  double rows = 0;
  for (const Bid& bid : bids) rows += bid.rows;
  const double k = demand.gain / (rows * rows);
  std::vector<double> epsilon;
  for (const Bid& bid : bids) {
    // The posted marginal value 2 value k / epsilon^3 falls as epsilon rises: the owner stops where
    // it meets its price. The posts of the others do not enter.
    double low = 0, high = bid.epsilon_max;
    for (int i = 0; i < 200; ++i) {
      const double middle = (low + high) / 2;
      (2 * demand.value * k / (middle * middle * middle) > bid.price ? low : high) = middle;
    }
    epsilon.push_back(high);
  }
  return epsilon;
}

}  // namespace parley::forecast
