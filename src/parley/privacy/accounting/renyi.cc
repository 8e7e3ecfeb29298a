#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/base/result.h"
#include "parley/privacy/accounting/rdp.h"

namespace parley::privacy {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// exp(y) - 1 - y without cancellation.
double exp_rest(double y) {
  if (std::abs(y) > 0.5) return std::expm1(y) - y;
  double sum = 1;
  for (int k = 18; k >= 3; --k) sum = 1 + sum * y / k;
  return y * y / 2 * sum;
}

/// (1 + w)^alpha - 1 - alpha w without cancellation, w > -1.
double power_rest(double w, double alpha) {
  if (std::abs(w) * alpha > 1e-2) return std::expm1(alpha * std::log1p(w)) - alpha * w;
  double sum = 1;
  for (int k = 9; k >= 3; --k) sum = 1 + sum * (alpha - k + 1) / k * w;
  return alpha * (alpha - 1) / 2 * w * w * sum;
}

/// ln(1 + e^x)
double log1p_exp(double x) { return x > 40 ? x : std::log1p(std::exp(x)); }

/// ln E - 1 of sum_k C(n,k) (1-q)^(n-k) q^k exp((k^2-k) / (2 sigma^2)), whose first two terms and
/// the ones inside the others add up to 1. Logarithms, because terms reach exp(1e6).
double log_binomial_excess(double q, double sigma, double n) {
  const double log_q = std::log(q), log_rest = std::log1p(-q), half = 1 / (2 * sigma * sigma);
  double choose = std::log(n), largest = -kInfinity, sum = 0;
  for (double k = 2; k <= n; ++k) {
    choose += std::log((n - k + 1) / k);
    const double y = (k * k - k) * half;
    const double term =
        choose + k * log_q + (n - k) * log_rest + (y > 40 ? y : std::log(std::expm1(y)));
    if (term > largest)
      sum = sum * std::exp(largest - term) + 1, largest = term;
    else
      sum += std::exp(term - largest);
  }
  return largest + std::log(sum);
}

/// The same for any order: E[(1+w)^alpha - 1 - alpha w], w = q (exp((2x-1)/(2 sigma^2)) - 1), x
/// normal; E w = 0. The trapezoid rule converges geometrically for a function that is analytic in a
/// strip, here of half-width pi sigma^2 where 1 + w has its zeros.
double quadrature_excess(double q, double sigma, double alpha) {
  const double step = std::min(sigma / 8, 0.45 * sigma * sigma);
  const double first = -13 * sigma, last = alpha + 13 * sigma;
  double sum = 0;
  for (double x = first; x <= last; x += step) {
    const double exponent = (2 * x - 1) / (2 * sigma * sigma);
    const double log_weight = -x * x / (2 * sigma * sigma);
    if (exponent < 600 / alpha) {
      sum += std::exp(log_weight) * power_rest(q * std::expm1(exponent), alpha);
    } else {  // (1+w)^alpha alone matters, and only its product with the weight is finite.
      sum += std::exp(log_weight + alpha * (exponent + std::log(q)));
    }
  }
  return sum * step / (sigma * 2.50662827463100050242);
}

}  // namespace

double renyi_of_laplace(double noise_multiplier, double alpha) {
  const double x = 1 / noise_multiplier, above_one = alpha - 1;
  const double exponent = above_one * x;
  if (exponent > 600) return x + std::log(alpha / (2 * alpha - 1)) / above_one + 0x1p-40;
  const double excess =
      (alpha * exp_rest(exponent) + above_one * exp_rest(-alpha * x)) / (2 * alpha - 1);
  return std::log1p(excess) / above_one * (1 + 0x1p-46);
}

double renyi_of_pure(double epsilon, double alpha) {
  const double y = epsilon * (alpha - 1);
  if (y > 600) return epsilon;
  const double excess = -std::expm1(-y) * std::expm1(epsilon + y) / (1 + std::exp(epsilon));
  const double value = epsilon + y > 600 ? epsilon : std::log1p(excess) / (alpha - 1);
  return std::min(epsilon, value * (1 + 0x1p-46));
}

double renyi_of_sampled(double probability, double noise_multiplier, double alpha) {
  check(probability > 0 && probability <= 1 && alpha > 1);
  if (probability == 1) return alpha / (2 * noise_multiplier * noise_multiplier) * (1 + 0x1p-50);
  if (alpha > 20'000) return kInfinity;
  const bool by_quadrature = alpha < 64 && alpha != std::floor(alpha);
  if (by_quadrature) {
    const double excess = quadrature_excess(probability, noise_multiplier, alpha);
    if (std::isfinite(excess)) return std::log1p(excess) / (alpha - 1) * (1 + 1e-11);
  }
  const double whole = std::ceil(alpha);
  const double excess = log_binomial_excess(probability, noise_multiplier, whole);
  return log1p_exp(excess) / (whole - 1) * (1 + 1e-11);
}

}  // namespace parley::privacy
