// A job without a pilot: how much noise its two releases will have, before anyone pays. Rule gram
// buys Z'Z with a share of rho and gradients with the rest.
#pragma once

#include <cstddef>
#include <string>

#include "parley/base/result.h"

namespace parley::forecast {

struct GramJob {
  double row_norm = 0;  // R_z = sqrt(numbers + categories + 1): no row by public bounds exceeds it
  size_t columns = 0;   // p
  double rows = 0;      // N
  double clip = 0;      // of gradients: R_z/2 for logistic loss, R_z for squared
  double rounds = 20;
  double surplus = 1;  // k = m / (survivors - colluders)
  double rho = 0;      // of the whole job
  double share = .3;   // of rho, for the Gram matrix
};

/// Standard deviations, of means over N rows.
struct GramNoise {
  double entry = 0;     // s_G: of Z'Z/N; |zz' - ww'|_F <= sqrt(2) R_z^2
  double floor = 0;     // 2 s_G sqrt(p): eigenvalues below it are noise, and are raised to it
  double gradient = 0;  // sd: of a coordinate of one round's mean gradient
};
GramNoise gram_noise(const GramJob& job);

/// The bias column has an eigenvalue of at least 1. Above this floor only it would be seen:
/// refused.
inline constexpr double kGramRefused = 1;
inline constexpr double kGramWarned = .3;

/// What would bring the floor to 0.3, each alone.
struct GramHelp {
  double epsilon = 0;  // of the whole job
  double rows = 0;     // N
  double columns = 0;  // p, at the same row norm: fewer levels
};
Result<GramHelp> gram_help(const GramJob& job, double delta);

/// The three numbers and, where the floor is above 0.3, what would help: a sentence to print before
/// payment. An error instead from a floor of 1 on.
Result<std::string> gram_notice(const GramJob& job, double delta);

}  // namespace parley::forecast
