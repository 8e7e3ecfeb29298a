#include "parley/privacy/accounting/gdp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "parley/base/math/number.h"
#include "parley/base/math/twin.h"

namespace parley::privacy {
namespace {

constexpr Twin kRootTwoPi{0x1.40d931ff62706p+1, -0x1.a6a0d6f814637p-53};

/// Mills's ratio: the normal mass above x >= 0 over the density there, sqrt(2 pi) e^(x^2/2) Q(x).
/// Near 0 by a series, elsewhere by the trapezoidal rule with step h = 3/8, as base/math/normal.cc
/// with step 1/2, off by less than e^(-pi^2/h^2) < 2^-100 of it.
Twin mills(const Twin& x) {
  constexpr Twin kFactor{0x1.b14c2f863e924p-4, -0x1.95eaa098206f0p-58};  // h / (2 sqrt(pi))
  constexpr Twin kPole{0x1.7b20423d1d930p+3, 0x1.be7ed435d029dp-52};     // sqrt(2) pi / h
  static const auto kWeights = [] {                                      // e^(-k^2 h^2)
    std::array<Twin, 23> weights;
    for (size_t k = 0; k < weights.size(); ++k) weights[k] = exp(Twin{double(k * k) * -9 / 64});
    return weights;
  }();
  const Twin square = x * x, half{square.high / 2, square.low / 2};
  if (x.high < .7) {
    Twin series{1};
    for (int k = 51; k > 1; k -= 2) series = Twin{1} + square * series / Twin{double(k)};
    return kRootTwoPi * exp(half) / Twin{2} - x * series;
  }
  Twin sum{};
  for (size_t k = kWeights.size() - 1; k > 0; --k)
    sum = sum + kWeights[k] / (Twin{double(k * k) * 9 / 64} + half);
  const Twin found = kFactor * x * (sum + sum + Twin{1} / half);
  if (x.high > 11) return found;
  const Twin at = kPole * x;
  return found - kRootTwoPi * exp(half - at) / (Twin{1} - exp(-at));
}

/// The next double above value 2^exponent and an error of 2^-80 of `terms`.
double up(const Twin& value, const Twin& terms, int exponent) {
  const double sum = next_up(value.high + next_up(value.low + terms.high * 0x1p-80));
  return next_up(std::ldexp(sum, exponent));
}

}  // namespace

/// With a = eps/mu - mu/2 and b = a + mu, e^eps times the density at b is the density at a: delta
/// is that density times the difference of Mills's ratios.
double gdp_delta(double mu, double epsilon) {
  check(mu >= 0 && epsilon >= 0);
  if (mu == 0) return 0;
  const Twin shift = Twin{epsilon} / Twin{mu}, half{mu / 2};
  const Twin a = shift - half, b = shift + half, square = a * a;
  if (a.high > 150) return std::numeric_limits<double>::min();  // exp(-11250)
  if (a.high < -150) return 1;
  const auto [power, exponent] = scaled_exp({-square.high / 2, -square.low / 2});
  const Twin density = power / kRootTwoPi, second = density * mills(b);
  const Twin first = density * mills(a.high < 0 ? -a : a);
  if (a.high >= 0) return std::min(1.0, up(first - second, first + second, exponent));
  const Twin rest = first + second;
  const Twin missing{std::ldexp(rest.high, exponent), std::ldexp(rest.low, exponent)};
  return std::min(1.0, up(Twin{1} - missing, Twin{1}, 0));
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
