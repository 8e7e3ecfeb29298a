#include "parley/privacy/accounting/shares.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "parley/base/math/number.h"
#include "parley/base/result.h"

namespace parley::privacy {
namespace {

constexpr double kRoundedUp = 1 + 0x1p-48;  // exceeds the error of a few roundings

/// Of a vector of integers: at most the root of the dimension times L2, and at most its square.
double l1_of(const SkellamEvent& event) {
  const double l2 = event.sensitivity;
  return std::min(std::sqrt(event.dimension) * l2, l2 * l2) * kRoundedUp;
}

/// The largest second difference of -ln P(k): 1/v + 9/(4 v^2). Nothing is claimed below 2.
double curvature(double variance) {
  if (!(variance >= 2)) return std::numeric_limits<double>::infinity();
  return (1 + 9 / (4 * variance)) / variance * kRoundedUp;
}

}  // namespace

double share_distance(double sigma, uint64_t present) {
  check(sigma > 0 && present >= 1);
  const double rate = 2 * std::numbers::pi * std::numbers::pi * sigma * sigma;
  double sum = 0;
  for (uint64_t k = 1; k < present; ++k) {
    const double term = std::exp(-rate * static_cast<double>(k) / static_cast<double>(k + 1));
    sum += term * (1 + 0x1p-52 * (4 + rate));
  }
  return 10 * sum * kRoundedUp;
}

double share_sum_noise(const Shares& shares, double dimension, double sensitivity) {
  check(1 <= shares.honest && shares.honest <= shares.present);
  const double tau = share_distance(shares.sigma, shares.present);
  const double gaussian = sensitivity * sensitivity /
                          (static_cast<double>(shares.honest) * shares.sigma * shares.sigma);
  return std::min(std::sqrt(gaussian + tau * dimension / 2),
                  std::sqrt(gaussian) + tau * std::sqrt(dimension)) *
         kRoundedUp;
}

double share_sum_rho(const Shares& shares, double dimension, double sensitivity) {
  const double noise = share_sum_noise(shares, dimension, sensitivity);
  return mul_up(noise / 2, noise);
}

double share_sum_rho(const SharesEvent& event) {
  const Shares shares{next_down(std::sqrt(event.variance)), event.honest, event.present};
  return share_sum_rho(shares, event.dimension, event.sensitivity);
}

double renyi_of_skellam(double variance, double l1, double l2, uint64_t alpha) {
  check(variance > 0 && alpha >= 2);
  const double order = static_cast<double>(alpha), square = l2 * l2;
  const double excess = std::min(((2 * order - 1) * square + 6 * l1) / (4 * variance * variance),
                                 3 * l1 / (2 * variance));
  return (order * square / (2 * variance) + excess) * kRoundedUp;
}

double renyi_of_skellam(const SkellamEvent& event, double alpha) {
  check(alpha > 1);
  const double l1 = l1_of(event), l2 = event.sensitivity;
  const double every = (alpha * l2 * l2 + l1) * curvature(event.variance) / 2 * kRoundedUp;
  const auto whole = static_cast<uint64_t>(std::ceil(alpha));
  return std::min(every, renyi_of_skellam(event.variance, l1, l2, std::max<uint64_t>(2, whole)));
}

double skellam_rho(const SkellamEvent& event) {
  const double l2 = event.sensitivity;
  return (l2 * l2 + l1_of(event)) * curvature(event.variance) / 2 * kRoundedUp;
}

}  // namespace parley::privacy
