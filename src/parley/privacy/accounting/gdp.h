// Gaussian differential privacy: the exact curve of continuous Gaussian noise (Balle, Wang 2018;
// Dong, Roth, Su 2019).
//
//   delta(eps) = Phi(-eps/mu + mu/2) - e^eps Phi(-eps/mu - mu/2),   mu = sensitivity / sigma,
//
// and releases compose exactly: mu^2 adds up. Discrete Gaussian noise is not covered: it can be
// slightly worse, so it is charged by zCDP, and this curve is for reports and plans.
#pragma once

#include "parley/privacy/accounting/event.h"
#include "parley/privacy/units.h"

namespace parley::privacy {

/// Never below the exact delta: a bound on its rounding is added.
double gdp_delta(double mu, double epsilon);

/// An epsilon, found by bisection, at which gdp_delta(mu, epsilon) <= delta was computed.
double gdp_epsilon(double mu, Delta delta);

/// The largest mu found with gdp_delta(mu, epsilon) <= delta.
double gdp_mu(double epsilon, Delta delta);

/// The mu of all events together, rounded up. An error names the first that is not Gaussian.
Result<double> gdp_mu(const Events& events);

}  // namespace parley::privacy
