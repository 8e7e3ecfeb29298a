// e^x out of exactly rounded operations only: no libm, no table, no branch. The same bits on every
// machine, and a loop over it is vectorised.
//
// x = k ln 2 + r with k an integer and |r| <= (ln 2)/2; e^r = 1 + r + r^2 P(r), P of degree 10 with
// the first two coefficients of the series and the others from nine Chebyshev nodes (relative error
// of the whole 9.2e-19, a hundredth of a unit in the last place); then twice times a power of two,
// so that neither overflows before the result does, and a denormal result is rounded once.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace parley::learn {

// Always inline: the kernels are compiled for two processors, and a copy shared by both would be
// the wrong one for one of them; and only inlined does it become part of a vectorised loop.

/// Within one unit in the last place; 0 below -745.2, infinity above 709.8, NaN for NaN.
[[gnu::always_inline]] inline double pure_exp(double x) {
  constexpr double kShift = 0x1.8p52;  // Adding it leaves the nearest integer in the low bits.
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  constexpr double kLn2High = 0x1.62e42fefa3p-1, kLn2Low = 0x1.3de6af278ece6p-42;
  x = x > 710.0 ? 710.0 : x;  // NaN passes both.
  x = x < -746.0 ? -746.0 : x;
  const double shifted = std::fma(x, kLog2E, kShift);
  const double k = shifted - kShift;
  const double r = std::fma(-k, kLn2Low, std::fma(-k, kLn2High, x));

  const double r2 = r * r, r4 = r2 * r2;  // Estrin's order: half as deep as Horner's.
  const double p01 = std::fma(0x1.5555555555555p-3, r, 0x1.0p-1);
  const double p23 = std::fma(0x1.11111111110bap-7, r, 0x1.5555555555555p-5);
  const double p45 = std::fma(0x1.a01a01a39dfe4p-13, r, 0x1.6c16c16c16a93p-10);
  const double p67 = std::fma(0x1.71de1ae5055fcp-19, r, 0x1.a01a01a2ba8c3p-16);
  const double p89 = std::fma(0x1.af1ddc4b815e6p-26, r, 0x1.27e4e7c9c1412p-22);
  const double p8to10 = std::fma(0x1.1f5abc199866p-29, r2, p89);
  const double p4to10 = std::fma(r4, p8to10, std::fma(r2, p67, p45));
  const double p = std::fma(r4, p4to10, std::fma(r2, p23, p01));
  const double mantissa = 1.0 + std::fma(r2, p, r);

  // 2^k as 2^a 2^b with a = floor(k/2); unsigned, so that garbage from a NaN is harmless.
  const uint64_t exponent = std::bit_cast<uint64_t>(shifted) - std::bit_cast<uint64_t>(kShift);
  const uint64_t raised = exponent + 2048, half = raised >> 1;
  const double a = std::bit_cast<double>((half - 1) << 52);
  const double b = std::bit_cast<double>((raised - half - 1) << 52);
  return (mantissa * a) * b;
}

/// 1 / (1 + e^-x), split by sign so that nothing overflows and small values keep their digits.
/// Never below e^-700: a denormal number takes a processor longer, and the owner's time would show
/// that a record lies far out.
[[gnu::always_inline]] inline double pure_sigmoid(double x) {
  const double size = std::fabs(x);
  const double e = pure_exp(size > 700.0 ? -700.0 : -size);  // NaN passes.
  return (x < 0 ? e : 1.0) / (1.0 + e);
}

/// log(1 + e^-x) for x >= 0; above 350 as at 350, where it is 1e-152, so that no square is
/// denormal. With e = e^-x and s = e / (2 + e) <= 1/3 it is 2 atanh(s) = 2 s (1 + s^2/3 + s^4/5 +
/// ...); what follows the last term below is at most 9^-17 / 35 / (1 - 1/9) of the sum, less than
/// 2^-58.
[[gnu::always_inline]] inline double pure_softplus(double x) {
  const double e = pure_exp(x > 350.0 ? -350.0 : -x);  // NaN passes.
  const double s = e / (2.0 + e), square = s * s;
  double series = 1.0 / 33;
  for (int odd = 31; odd >= 3; odd -= 2) series = std::fma(series, square, 1.0 / odd);
  return 2.0 * std::fma(s * square, series, s);
}

}  // namespace parley::learn
