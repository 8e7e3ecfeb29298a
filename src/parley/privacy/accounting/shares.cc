#include "parley/privacy/accounting/shares.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "parley/base/number.h"
#include "parley/base/result.h"

namespace parley::privacy {
namespace {

constexpr double kUp = 1 + 0x1p-48;  // more than a handful of roundings

}  // namespace

double share_distance(double sigma, uint64_t present) {
  check(sigma > 0 && present >= 1);
  const double rate = 2 * std::numbers::pi * std::numbers::pi * sigma * sigma;
  double sum = 0;
  for (uint64_t k = 1; k < present; ++k) {
    const double term = std::exp(-rate * static_cast<double>(k) / static_cast<double>(k + 1));
    sum += term * (1 + 0x1p-52 * (4 + rate));
  }
  return 10 * sum * kUp;
}

double share_sum_noise(const Shares& shares, double dimension, double sensitivity) {
  check(1 <= shares.honest && shares.honest <= shares.present);
  const double tau = share_distance(shares.sigma, shares.present);
  const double gaussian = sensitivity * sensitivity /
                          (static_cast<double>(shares.honest) * shares.sigma * shares.sigma);
  return std::min(std::sqrt(gaussian + tau * dimension / 2),
                  std::sqrt(gaussian) + tau * std::sqrt(dimension)) *
         kUp;
}

double share_sum_rho(const Shares& shares, double dimension, double sensitivity) {
  const double noise = share_sum_noise(shares, dimension, sensitivity);
  return mul_up(noise / 2, noise);
}

double renyi_of_skellam(double variance, double l1, double l2, uint64_t alpha) {
  check(variance > 0 && alpha >= 2);
  const double order = static_cast<double>(alpha), square = l2 * l2;
  const double excess = std::min(((2 * order - 1) * square + 6 * l1) / (4 * variance * variance),
                                 3 * l1 / (2 * variance));
  return (order * square / (2 * variance) + excess) * kUp;
}

}  // namespace parley::privacy
