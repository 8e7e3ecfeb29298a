#include "parley/privacy/accounting/gdp.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/base/math/number.h"

namespace parley::privacy {
namespace {

// The two terms of delta(eps) may cancel, and be far below the smallest double.
static_assert(std::numeric_limits<long double>::digits >= 64);

long double upper_tail(long double x) { return erfcl(x * 0.70710678118654752440L) / 2; }

/// The next double above the nearest one, since the conversion may have rounded down.
double up(long double x) { return next_up(static_cast<double>(x)); }

}  // namespace

double gdp_delta(double mu, double epsilon) {
  check(mu >= 0 && epsilon >= 0);
  if (mu == 0) return 0;
  const long double shift = static_cast<long double>(epsilon) / mu, half = mu / 2.0L;
  if (shift - half > 150) return std::numeric_limits<double>::min();  // exp(-11250)
  const long double first = upper_tail(shift - half);
  const long double second = std::exp(static_cast<long double>(epsilon)) * upper_tail(shift + half);
  // The relative error of each term: rounded arguments, times how steep exp and erfc are there.
  const long double steep = 4 + epsilon + (shift + half) * (shift + half);
  const long double error = 8 * 0x1p-64L * steep * (first + (second > 0 ? second : 0));
  return std::min(1.0, up(std::max(0.0L, first - second) + error));
}

double gdp_epsilon(double mu, Delta delta) {
  if (gdp_delta(mu, 0) <= delta.value()) return 0;
  double low = 0, high = 1;
  while (gdp_delta(mu, high) > delta.value()) high *= 2;
  for (int i = 0; i < 200; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (gdp_delta(mu, middle) <= delta.value() ? high : low) = middle;
  }
  return high;
}

double gdp_mu(double epsilon, Delta delta) {
  double low = 0, high = 1;
  while (gdp_delta(high, epsilon) <= delta.value()) high *= 2;
  for (int i = 0; i < 2000; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (gdp_delta(middle, epsilon) <= delta.value() ? low : high) = middle;
  }
  return low;
}

Result<double> gdp_mu(const Events& events) {
  double square = 0;
  for (const auto& [event, count] : events) {
    const auto* gaussian = std::get_if<GaussianEvent>(&event);
    if (gaussian == nullptr) return Error{Code::kInvalid, "not all events are Gaussian"};
    const double one = next_up(1 / (gaussian->noise_multiplier * gaussian->noise_multiplier));
    square = add_up(square, mul_up(next_up(next_up(one)), static_cast<double>(count)));
  }
  return next_up(std::sqrt(square));
}

}  // namespace parley::privacy
