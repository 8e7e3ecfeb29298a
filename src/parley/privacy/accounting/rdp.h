// Renyi differential privacy of every kind of event, order by order (Mironov 2017).
//
// Divergences of one order add up over releases, also adaptively chosen ones with a bound fixed in
// advance; conversion.h turns the sum into (epsilon, delta).
#pragma once

#include "parley/privacy/accounting/event.h"
#include "parley/privacy/units.h"

namespace parley::privacy {

/// The divergence of continuous Laplace noise, exactly (Mironov 2017, Proposition 6).
double renyi_of_laplace(double noise_multiplier, double alpha);

/// The largest divergence of an epsilon-DP mechanism, that of randomized response (Bun, Steinke
/// 2016).
double renyi_of_pure(double epsilon, double alpha);

/// Of Poisson-sampled Gaussian noise under add/remove, where the multiplier refers to the norm of
/// a record (Mironov, Talwar, Zhang 2019): D_alpha((1-q) N(0) + q N(1) || N(0)), the larger of both
/// directions. Whole orders by the binomial sum, others below 64 by quadrature, others by the next
/// whole order, which is larger. Infinity above order 20,000.
double renyi_of_sampled(double probability, double noise_multiplier, double alpha);

/// Of all events together. Under replace-one, sampled events count as two add/remove steps, for
/// which the answer is (2 eps, (1 + e^eps) delta): a named looser bound, since no tight one is
/// proven in several dimensions.
Result<double> rdp_epsilon(const Events& events, Delta delta, Adjacency adjacency);
Result<double> rdp_delta(const Events& events, double epsilon, Adjacency adjacency);

}  // namespace parley::privacy
