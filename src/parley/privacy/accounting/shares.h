// Noise that several parties add together: sums of discrete Gaussian shares, and Skellam noise.
//
// A sum of n discrete Gaussians is not one, but close: with shares of parameter s, in lattice
// units, and tau = 10 sum_{k=1}^{m-1} exp(-2 pi^2 s^2 k/(k+1)), releasing a vector of dimension d
// and L2 sensitivity D is (1/2) e^2-zCDP with
//   e = min{ sqrt(D^2/(n s^2) + tau d/2),  D/(sqrt(n) s) + tau sqrt(d) }
// (Kairouz, Liu, Steinke 2021, Theorem 1). n counts the honest shares that are surely in the sum,
// m all that may be: tau grows with every share.
//
// Skellam noise is closed under sums, whoever drops out (Agarwal, Kairouz, Liu 2021, Theorem 3.5).
#pragma once

#include <cstdint>

namespace parley::privacy {

struct Shares {
  double sigma;      // of one share, in lattice units
  uint64_t honest;   // n: at least so many are in the sum
  uint64_t present;  // m >= n: at most so many are
};

double share_distance(double sigma, uint64_t present);  // tau

/// e; its zCDP is e^2/2. Rounded up.
double share_sum_noise(const Shares& shares, double dimension, double sensitivity);
double share_sum_rho(const Shares& shares, double dimension, double sensitivity);

/// Renyi divergence of a whole order alpha > 1: total variance of a coordinate, L1 and L2
/// sensitivity, all in lattice units.
double renyi_of_skellam(double variance, double l1, double l2, uint64_t alpha);

}  // namespace parley::privacy
