// Elementary functions with the same bits on every machine: only + - * / and sqrt, which IEEE 754
// rounds exactly, in a written order. libm's differ from one version to the next.
#pragma once

namespace parley {

/// exp for |x| < 700 and log for normal x > 0, within 2 units in the last place.
double portable_exp(double x);
double portable_log(double x);

/// log(1 + x) for x > -1, within 4 units in the last place.
double portable_log1p(double x);

/// cos(2 pi x), to 2^-51 absolutely. Counting in turns makes the reduction exact, so that any
/// finite x will do; NaN for others.
double cos_of_turns(double x);

/// The x below which a standard normal number lies with probability p, 0 < p < 1; relative error
/// about 1e-16 (Wichura 1988, Algorithm AS 241, PPND16).
double normal_quantile(double p);

}  // namespace parley
