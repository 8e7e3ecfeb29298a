// Wide discrete Gaussian noise beside continuous noise of the same width, in any number of
// coordinates.
//
// A continuous Gaussian mechanism on whole numbers, rounded, is post-processing: it has the losses
// of continuous noise. Rounded noise has R(k) = f(k) E[exp(-u^2/(2 s2)) cosh(k u/s2)], u uniform in
// (-1/2, 1/2), f the density; discrete noise has P(k) = f(k)/Z, 1 <= Z <= 1 + 3 exp(-2 pi^2 s2).
// So |ln(P(k)/R(k))| <= eta = max(1/(8 s2), k^2/(8 s2^2)), up to what Z adds. Noise stays below
// 45 sigma but for a probability that no double can hold (Canonne, Kamath, Steinke 2020,
// proposition 25), which as the neighbour's noise is at most 45 sigma + D. With n = sum of d eta
// over all releases, putting one for the other in both worlds makes (eps, delta) of (eps - 2 n,
// delta e^-n).
#pragma once

#include "parley/privacy/accounting/event.h"

namespace parley::privacy {

struct Continued {
  Events events;    // with continuous noise where discrete noise was wide
  double distance;  // n, rounded up, for as many coordinates as a lattice has
};

/// From sigma = 2^20 on noise is wide: n is below 1e-6 for each release, and falls with s2.
Continued with_wide_noise_continuous(const Events& events);

}  // namespace parley::privacy
