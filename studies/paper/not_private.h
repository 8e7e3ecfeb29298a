// What the literal forms of the papers have in common.
#pragma once

#include <cmath>
#include <numbers>

#include "parley/base/entropy.h"

namespace parley::paper {

/// A value computed from private records without a promise. It has no encoder, and its name is what
/// must be said about it.
template <class T>
struct NotPrivate {
  T value;
};

/// -b sign(u) log(1 - 2|u|) for u uniform in (-1/2, 1/2): what the papers mean, with holes.
inline double real_laplace(Entropy& entropy, double scale) {
  const double u = (static_cast<double>(entropy.word() >> 12) + 0.5) * 0x1p-52 - 0.5;
  return -std::copysign(scale, u) * std::log1p(-2 * std::fabs(u));
}

/// Box and Muller's, with the same holes.
inline double real_normal(Entropy& entropy) {
  const auto uniform = [&] { return static_cast<double>((entropy.word() >> 11) + 1) * 0x1p-53; };
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

}  // namespace parley::paper
