#include "parley/base/math/normal.h"

#include <cmath>

#include "parley/base/math/portable.h"

namespace parley {

/// Near 0 by the series of the mass between 0 and x. Elsewhere, with u = x / sqrt(2), half of
///
///   erfc(u) = (u/2pi) e^(-u^2) sum over all k of e^(-k^2/4) / (k^2/4 + u^2) - 2 / (e^(4 pi u) -
///   1),
///
/// the trapezoidal rule with step 1/2, which is off by less than e^(-4 pi^2) of it (Chiarella,
/// Reichel 1968). The last term is that of the pole at iu and falls away where u > 2 pi.
double normal_above(double x) {
  constexpr double kRootTwoPi = 0x1.40d931ff62706p1, kTwoRootTwoPi = 0x1.1c5831add62e4p3;
  constexpr double kOverRootTwoPi = 0x1.ccf6429be6621p-3;  // 1 / (sqrt(2) pi)
  constexpr double kWeights[] = {
      0x1.8ebef9eac820bp-1,  0x1.78b56362cef38p-2,  // e^(-k^2/4)
      0x1.afb718e8457f7p-4,  0x1.2c155b8213cf4p-6,  0x1.fa0e9586aebc7p-10, 0x1.02cf22526545ap-13,
      0x1.411fb0da07713p-18, 0x1.e355bbaee85cbp-24, 0x1.b93de1e27ca3bp-30, 0x1.e8a37a45fc32ep-37,
      0x1.4835bd010a41bp-44, 0x1.0b6c3afdde064p-52};
  if (x < 0) return 1 - normal_above(-x);
  x = x < 37 ? x : 37;
  const double square = x * x, lost = std::fma(x, x, -square);
  const double e = portable_exp(-square / 2) * (1 - lost / 2);
  if (x < .7) {
    double series = 1;
    for (int k = 27; k > 1; k -= 2) series = 1 + square / k * series;
    return .5 - e * x * series / kRootTwoPi;
  }
  double sum = 0;
  for (int k = 12; k > 0; --k) sum += kWeights[k - 1] / (k * k + 2 * square);
  const double above = kOverRootTwoPi * x * e * (2 * sum + .5 / square);
  return x < 8.5 ? above - 1 / (portable_exp(kTwoRootTwoPi * x) - 1) : above;
}

}  // namespace parley
