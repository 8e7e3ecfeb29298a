#include "support/statistics.h"

namespace parley::test {
namespace {

/// The regularised upper incomplete gamma function Q(a, x).
double gamma_tail(double a, double x) {
  if (x <= 0) return 1;
  const double scale = std::exp(-x + a * std::log(x) - std::lgamma(a));
  if (x < a + 1) {  // Series of the lower part.
    double term = 1 / a, sum = term;
    for (double n = a + 1; term > sum * 1e-17; ++n) sum += term *= x / n;
    return 1 - scale * sum;
  }
  double b = x + 1 - a, c = 1e300, d = 1 / b, fraction = d;  // Lentz's continued fraction.
  for (int i = 1; i < 10000; ++i) {
    const double an = -i * (i - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    fraction *= d * c;
    if (std::fabs(d * c - 1) < 1e-15) break;
  }
  return scale * fraction;
}

}  // namespace

double chi_square_tail(double x, double freedom) { return gamma_tail(freedom / 2, x / 2); }

double chi_square_p_value(const std::vector<uint64_t>& observed,
                          const std::vector<double>& expected) {
  double statistic = 0;
  for (size_t i = 0; i < observed.size(); ++i) {
    const double difference = double(observed[i]) - expected[i];
    statistic += difference * difference / expected[i];
  }
  return chi_square_tail(statistic, double(observed.size()) - 1);
}

double certified_epsilon(uint64_t hits, uint64_t hits_of_neighbour, uint64_t trials, double alpha) {
  return std::log(binomial_lower(hits, trials, alpha) /
                  binomial_upper(hits_of_neighbour, trials, alpha));
}

}  // namespace parley::test
