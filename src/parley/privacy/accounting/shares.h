// Noise that several parties add together: sums of discrete Gaussian shares, and Skellam noise.
//
// A sum of n discrete Gaussians is not one, but close: with shares of parameter s, in lattice
// units, and tau = 10 sum_{k=1}^{m-1} exp(-2 pi^2 s^2 k/(k+1)), releasing a vector of dimension d
// and L2 sensitivity D is (1/2) e^2-zCDP with
//   e = min{ sqrt(D^2/(n s^2) + tau d/2),  D/(sqrt(n) s) + tau sqrt(d) }
// (Kairouz, Liu, Steinke 2021, Theorem 1). n counts the honest shares that are surely in the sum,
// m all that may be: tau grows with every share.
//
// Skellam noise is closed under sums, whoever drops out. Its divergences of whole orders are known
// (Agarwal, Kairouz, Liu 2021, Theorem 3.5); docs/explanation/mechanisms/skellam.md proves
//   D_alpha <= (alpha D2^2 + D1) (1/v + 9/(4 v^2)) / 2
// for every order alpha > 1, variance v >= 2 and integer shift with norms D1 and D2: that is zCDP.
#pragma once

#include <cstdint>

#include "parley/privacy/accounting/event.h"

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

double share_sum_rho(const SharesEvent& event);

/// Renyi divergence of a whole order alpha > 1: total variance of a coordinate, L1 and L2
/// sensitivity, all in lattice units.
double renyi_of_skellam(double variance, double l1, double l2, uint64_t alpha);

/// Of any order: the smaller of both bounds, since divergences grow with the order.
double renyi_of_skellam(const SkellamEvent& event, double alpha);
/// The zCDP of Skellam noise, rounded up.
double skellam_rho(const SkellamEvent& event);

}  // namespace parley::privacy
