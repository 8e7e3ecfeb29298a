#include "parley/audit/bounds.h"

#include <algorithm>
#include <cmath>

#include "parley/audit/binomial.h"
#include "parley/base/result.h"
#include "parley/privacy/accounting/gdp.h"
#include "parley/privacy/accounting/pld/normal.h"

namespace parley::audit {
namespace {

constexpr double kEpsilonMax = 60;  // More than any number of runs can certify.

struct Rates {
  double false_positive, false_negative;
};

/// Both hold together, wrongly with probability at most `alpha`.
Rates upper_limits(const Counts& counts, double alpha) {
  check(counts.trials > 0);
  return {binomial_upper(counts.false_positives, counts.trials, alpha / 2),
          binomial_upper(counts.trials - counts.true_positives, counts.trials, alpha / 2)};
}

/// ln((1 - delta - other) / rate), or nothing proved.
double log_ratio(double rate, double other, double delta) {
  const double numerator = 1 - delta - other;
  return numerator > rate ? std::log(numerator / rate) : 0;
}

double normal_quantile(double p) {
  double low = -40, high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (privacy::normal_below(middle) < p ? low : high) = middle;
  }
  return low;
}

/// How likely so many right guesses are, at most, if epsilon is the truth.
double p_value(const Guesses& g, double epsilon, double delta) {
  const double right = 1 / (1 + std::exp(-epsilon));
  const double tail = binomial_at_least(g.correct, g.guesses, right);
  if (delta == 0) return tail;
  double worst = 0;
  for (uint64_t i = 1; i <= std::min(g.correct, g.canaries); ++i)
    worst = std::max(worst, (binomial_at_least(g.correct - i, g.guesses, right) - tail) /
                                static_cast<double>(i));
  return tail + 2 * static_cast<double>(g.canaries) * delta * worst;
}

}  // namespace

double epsilon_clopper_pearson(const Counts& counts, double delta, double alpha) {
  const Rates most = upper_limits(counts, alpha);
  return std::max(log_ratio(most.false_positive, most.false_negative, delta),
                  log_ratio(most.false_negative, most.false_positive, delta));
}

double epsilon_gaussian(const Counts& counts, double delta, double alpha) {
  const Rates most = upper_limits(counts, alpha);
  const double mu = -normal_quantile(most.false_negative) - normal_quantile(most.false_positive);
  return mu > 0 ? privacy::gdp_epsilon(mu, *privacy::Delta::make(delta)) : 0;
}

double epsilon_if_perfect(uint64_t trials, double delta, double alpha) {
  return epsilon_clopper_pearson({trials, 0, trials}, delta, alpha);
}

double epsilon_one_run(const Guesses& guesses, double delta, double alpha) {
  check(guesses.correct <= guesses.guesses && guesses.guesses <= guesses.canaries);
  double low = 0, high = kEpsilonMax;
  if (p_value(guesses, low, delta) >= alpha) return 0;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (p_value(guesses, middle, delta) < alpha ? low : high) = middle;
  }
  return low;
}

}  // namespace parley::audit
