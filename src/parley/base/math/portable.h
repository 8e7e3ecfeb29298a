// Elementary functions with the same bits on every machine: only + - * / and sqrt, which IEEE 754
// rounds exactly, in a written order. libm's differ from one version to the next.
#pragma once

namespace parley {

/// exp for |x| < 700 and log for normal x > 0, within 2 units in the last place.
double portable_exp(double x);
double portable_log(double x);

/// log(1 + x) for x > -1, within 4 units in the last place.
double portable_log1p(double x);

/// What they use, also where a database computes a logarithm (data/sql/log1p.cc): ln 2 in two
/// parts, of which the first has 32 trailing zero bits, so that k * kLogTwoHigh is exact for |k| <
/// 2^20; and the series of atanh(s) / s - 1 in s^2 over s^2, the highest power first.
inline constexpr double kLogTwoHigh = 0x1.62e42feep-1, kLogTwoLow = 0x1.a39ef35793c76p-33;
inline constexpr double kLogSeries[] = {1. / 23, 1. / 21, 1. / 19, 1. / 17, 1. / 15, 1. / 13,
                                        1. / 11, 1. / 9,  1. / 7,  1. / 5,  1. / 3};

/// cos(2 pi x), to 2^-51 absolutely. Counting in turns makes the reduction exact, so that any
/// finite x will do; NaN for others.
double cos_of_turns(double x);

/// What it uses, also where a database computes it (data/sql/features.cc): cos(angle), and
/// sin(angle) / angle, as polynomials in the square of the angle, the highest power first.
inline constexpr double kCosine[] = {1. / 20922789888000,
                                     -1. / 87178291200,
                                     1. / 479001600,
                                     -1. / 3628800,
                                     1. / 40320,
                                     -1. / 720,
                                     1. / 24,
                                     -1. / 2,
                                     1};
inline constexpr double kSine[] = {
    -1. / 1307674368000, 1. / 6227020800, -1. / 39916800, 1. / 362880,
    -1. / 5040,          1. / 120,        -1. / 6,        1};

/// The x below which a standard normal number lies with probability p, 0 < p < 1; relative error
/// about 1e-16 (Wichura 1988, Algorithm AS 241, PPND16).
double normal_quantile(double p);

}  // namespace parley
