// The z-update of ADMM sharing for every loss, a proximal step: argmin over z of l(z; y) +
// (rho/2)(z - centre)^2.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "parley/learn/loss.h"

namespace parley::learn {

inline constexpr size_t kProxBlock = 64;

inline double prox(const Squared&, double centre, double label, double rho) {
  return (2 * label + rho * centre) / (2 + rho);
}

inline double prox(const Huber& loss, double centre, double label, double rho) {
  const double wanted = centre - label, curved = wanted * rho / (2 + rho);
  if (std::fabs(curved) <= loss.delta) return label + curved;
  return centre - std::copysign(2 * loss.delta / rho, wanted);
}

inline double prox(const Hinge& loss, double centre, double label, double rho) {
  const double margin = label * centre, reach = loss.weights.of(label) / rho;
  return label * std::clamp(1.0, margin, margin + reach);
}

/// By Newton's method on w = y z: w - a - r s(-w) = 0 with s the sigmoid and r the weight over rho
/// has its root in [a, a + r], is convex below 0 and concave above. From the point nearest to 0 the
/// steps go one way and need no safeguard; one that bisects when it leaves the bracket would cycle.
/// A block of records takes its steps together, so that they are made in vectors.
inline void prox_block(const Logistic& loss, const double* __restrict centres,
                       const double* __restrict labels, double rho, double* __restrict out,
                       size_t count) {
  constexpr int kStepsMax = 100;  // 8 are enough for rho >= 0.01.
  double a[kProxBlock], reach[kProxBlock];
  for (size_t i = 0; i < count; ++i) {
    a[i] = labels[i] * centres[i];
    reach[i] = loss.weights.of(labels[i]) / rho;
    out[i] = std::min(std::max(0.0, a[i]), a[i] + reach[i]);
  }
  int64_t moving = 1;
  for (int step = 0; step < kStepsMax && moving > 0; ++step) {
    moving = 0;
    for (size_t i = 0; i < count; ++i) {
      const double p = pure_sigmoid(-out[i]), pull = reach[i] * p;
      const double move = (out[i] - a[i] - pull) / (1 + pull * (1 - p));
      out[i] -= move;
      moving += std::fabs(move) > 1e-15 * (1 + std::fabs(out[i])) ? 1 : 0;
    }
  }
  for (size_t i = 0; i < count; ++i) out[i] *= labels[i];
}

/// All records at once; what is minimised for one does not depend on the others.
template <class L>
void prox_each(const L& loss, std::span<const double> centres, std::span<const double> labels,
               double rho, std::span<double> out) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = prox(loss, centres[i], labels[i], rho);
}

inline void prox_each(const Logistic& loss, std::span<const double> centres,
                      std::span<const double> labels, double rho, std::span<double> out) {
  for (size_t i = 0; i < out.size(); i += kProxBlock)
    prox_block(loss, &centres[i], &labels[i], rho, &out[i], std::min(kProxBlock, out.size() - i));
}

}  // namespace parley::learn
