// The weights of the owners (theory (D7)), from public numbers only. Weights v that add up to 1
// change the expected fitness by
//
//   sum of noise_i v_i^2 + (sampling_i + tau2) (v_i - n_i/n)^2
//
// Here noise_i v_i^2 is the cost of owner i's noise. sampling_i is the cost of leaving its rows out
// or counting them twice, because rows are a random sample, and tau2 the same cost because owners
// differ. The minimum is at v_i = (mu + tau2 n_i/n) / D_i, D_i = noise_i + sampling_i + tau2:
// weights n_i/n without noise, inverse variances where noise dominates.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "parley/data/rows.h"
#include "parley/learn/loss.h"
#include "parley/learn/objective.h"
#include "parley/learn/schedule/schedule.h"

namespace parley::learn {

struct OwnerError {
  double rows = 0;      // n_i
  double noise = 0;     // of its mean gradient, as it reaches the expected fitness
  double sampling = 0;  // of its mean gradient, likewise: `spread` / n_i
};

/// The weights that minimise the sum above.
std::vector<double> optimal_weights(std::span<const OwnerError> owners, double tau2 = 0);

/// That sum.
double weights_error(std::span<const OwnerError> owners, std::span<const double> weights,
                     double tau2 = 0);

/// What public rows say about a schedule near their optimum.
struct ErrorModel {
  double noise_gain = 0;  // expected fitness per unit of variance on every coordinate of an answer
  double spread = 0;      // half the trace of (inverse Hessian)(covariance of record gradients)
};

/// `theta` is the optimum of `pilot`; gradients are clipped as the owners'. A preconditioner is
/// taken for the inverse Hessian. Nothing if the Hessian is singular. A loss without curvature is
/// judged by how dense scores lie at its kink.
std::optional<ErrorModel> error_model(const Schedule& schedule, const Losses& loss,
                                      const data::Rows& pilot, std::span<const double> theta,
                                      ClipIn norm, double limit, double l2);

/// The noise gain of a schedule on a quadratic with these curvatures: (1/2) sum of h P(h), P the
/// variance of the output along a direction of curvature h under noise of variance 1.
double noise_gain(const Schedule& schedule, std::span<const double> curvatures);

}  // namespace parley::learn
