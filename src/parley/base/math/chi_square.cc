#include "parley/base/math/chi_square.h"

#include <cmath>
#include <numbers>

namespace parley {
namespace {

/// P[chi-square_3 <= x] = erf(sqrt(x/2)) - sqrt(2x/pi) exp(-x/2).
double chi_square_3_below(double x) {
  return std::erf(std::sqrt(x / 2)) - std::sqrt(2 * x / std::numbers::pi) * std::exp(-x / 2);
}

double chi_square_3_quantile(double probability) {
  double low = 0, high = 100;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (chi_square_3_below(middle) < probability ? low : high) = middle;
  }
  return high;
}

std::array<double, kChiSquareNodes> made_nodes() {
  std::array<double, kChiSquareNodes> nodes{};
  for (size_t k = 0; k < nodes.size(); ++k)
    nodes[k] = chi_square_3_quantile((static_cast<double>(k) + .5) / kChiSquareNodes) / 3;
  return nodes;
}

}  // namespace

double wilson_hilferty(double freedom, double normal) {
  const double ninth = 2 / (9 * freedom);
  const double root = std::fmax(1 - ninth + normal * std::sqrt(ninth), 0);
  return freedom * root * root * root;
}

double chi_square_share(SeededRandom& random, size_t freedom) {
  const auto k = static_cast<double>(freedom);
  if (freedom > 3) return wilson_hilferty(k, random.normal()) / k;
  double sum = 0;
  for (size_t j = 0; j < freedom; ++j) {
    const double z = random.normal();
    sum += z * z;
  }
  return sum / k;
}

const std::array<double, kChiSquareNodes>& chi_square_3_nodes() {
  static const std::array<double, kChiSquareNodes> nodes = made_nodes();
  return nodes;
}

}  // namespace parley
