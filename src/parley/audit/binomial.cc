#include "parley/audit/binomial.h"

#include <cmath>

#include "parley/base/result.h"

namespace parley::audit {
namespace {

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

/// P[Binomial(trials, p) >= successes], added up from `successes` on: for p below the observed
/// part, where the terms fall from the first on.
double upper_tail(uint64_t successes, uint64_t trials, double p) {
  const double n = double(trials), k = double(successes);
  double term = std::exp(log_choose(n, k) + k * std::log(p) + (n - k) * std::log1p(-p));
  double sum = 0;
  for (uint64_t i = successes; i <= trials && term > sum * 1e-18; ++i) {
    sum += term;
    term *= (n - double(i)) / (double(i) + 1) * p / (1 - p);
  }
  return sum;
}

}  // namespace

double binomial_at_least(uint64_t successes, uint64_t trials, double p) {
  check(p >= 0 && p <= 1);
  if (successes == 0 || p == 1) return 1;
  if (successes > trials || p == 0) return 0;
  if (p * double(trials) < double(successes)) return upper_tail(successes, trials, p);
  return 1 - upper_tail(trials - successes + 1, trials, 1 - p);
}

double binomial_lower(uint64_t successes, uint64_t trials, double alpha) {
  check(successes <= trials && alpha > 0 && alpha < 1);
  if (successes == 0) return 0;
  double low = 0, high = double(successes) / double(trials);
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (upper_tail(successes, trials, middle) < alpha ? low : high) = middle;
  }
  return low;
}

double binomial_upper(uint64_t successes, uint64_t trials, double alpha) {
  return 1 - binomial_lower(trials - successes, trials, alpha);
}

}  // namespace parley::audit
