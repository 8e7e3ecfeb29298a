#include "parley/base/math/portable.h"

#include <cmath>
#include <cstddef>

namespace parley {
namespace {

/// Coefficients from the highest power down.
template <size_t n>
double polynomial(const double (&coefficients)[n], double x) {
  double sum = coefficients[0];
  for (size_t i = 1; i < n; ++i) sum = sum * x + coefficients[i];
  return sum;
}

}  // namespace

double portable_exp(double x) {
  constexpr double kTaylor[] = {1. / 6227020800,
                                1. / 479001600,
                                1. / 39916800,
                                1. / 3628800,
                                1. / 362880,
                                1. / 40320,
                                1. / 5040,
                                1. / 720,
                                1. / 120,
                                1. / 24,
                                1. / 6,
                                1. / 2,
                                1,
                                1};
  const double k = std::floor(x * 1.4426950408889634 + .5);
  // |r| < .35: the series ends below 4e-18.
  const double r = (x - k * kLogTwoHigh) - k * kLogTwoLow;
  return std::ldexp(polynomial(kTaylor, r), static_cast<int>(k));
}

double portable_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < .70710678118654752) m *= 2, --exponent;
  // log m = 2 atanh s = f - s (f - R), f = m - 1: the leading term is exact near m = 1.
  const double f = m - 1, s = f / (m + 1), square = s * s;
  const double rest = 2 * square * polynomial(kLogSeries, square);
  return exponent * kLogTwoHigh + (f - (s * (f - rest) - exponent * kLogTwoLow));
}

double portable_log1p(double x) {
  // Goldberg 1991, Theorem 4: the rounding of 1 + x cancels in the quotient.
  const double sum = 1 + x;
  return sum == 1 ? x : portable_log(sum) * (x / (sum - 1));
}

double cos_of_turns(double x) {
  constexpr double kTwoPi = 0x1.921fb54442d18p2;
  double part = std::fabs(x - std::floor(x + .5));  // in [0, 1/2], exact
  const double sign = part > .25 ? -1 : 1;
  if (part > .25) part = .5 - part;  // in [0, 1/4], exact, as is the next one
  const bool sine = part > .125;
  const double angle = kTwoPi * (sine ? .25 - part : part), square = angle * angle;
  return sign * (sine ? angle * polynomial(kSine, square) : polynomial(kCosine, square));
}

double normal_quantile(double p) {
  constexpr double kCentralTop[] = {
      2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
      13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.3871328727963666080};
  constexpr double kCentralBottom[] = {
      5226.4952788528545610, 28729.085735721942674, 39307.895800092710610, 21213.794301586595867,
      5394.1960214247511077, 687.18700749205790830, 42.313330701600911252, 1};
  constexpr double kMiddleTop[] = {7.74545014278341407640e-4, .0227238449892691845833,
                                   .241780725177450611770,    1.27045825245236838258,
                                   3.64784832476320460504,    5.76949722146069140550,
                                   4.63033784615654529590,    1.42343711074968357734};
  constexpr double kMiddleBottom[] = {1.05075007164441684324e-9, 5.47593808499534494600e-4,
                                      .0151986665636164571966,   .148103976427480074590,
                                      .689767334985100004550,    1.67638483018380384940,
                                      2.05319162663775882187,    1};
  constexpr double kFarTop[] = {2.01033439929228813265e-7, 2.71155556874348757815e-5,
                                .00124266094738807843860,  .0265321895265761230930,
                                .296560571828504891230,    1.78482653991729133580,
                                5.46378491116411436990,    6.65790464350110377720};
  constexpr double kFarBottom[] = {2.04426310338993978564e-15, 1.42151175831644588870e-7,
                                   1.84631831751005468180e-5,  7.86869131145613259100e-4,
                                   .0148753612908506148525,    .136929880922735805310,
                                   .599832206555887937690,     1};
  const double q = p - .5;
  if (std::fabs(q) <= .425) {
    const double r = .180625 - q * q;
    return q * polynomial(kCentralTop, r) / polynomial(kCentralBottom, r);
  }
  const double r = std::sqrt(-portable_log(q < 0 ? p : 1 - p));
  const double x = r <= 5 ? polynomial(kMiddleTop, r - 1.6) / polynomial(kMiddleBottom, r - 1.6)
                          : polynomial(kFarTop, r - 5) / polynomial(kFarBottom, r - 5);
  return q < 0 ? -x : x;
}

}  // namespace parley
