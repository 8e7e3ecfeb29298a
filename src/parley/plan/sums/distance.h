// Rule "distance": no model is trained; owners add up how far each one's rows pull away from the
// pilot's optimum (theory (W6)). Owner i gives the lengths of two parts of v_i r_i,
//     r_i = (1/n_i) sum over its records of clip(W' gradient at the optimum),
// that of its intercept and that of the rest, which as a pair cost what the length of the whole
// would (learn/distance/gradient_norm.h). W W' is the inverse of the pilot's Hessian, v_i =
// min(n_i, median n). The clip is the charter's max_grad_norm, in that metric, so that sensitivity
// and noise follow from the charter alone; what the number says about owners is the forecast's
// (forecast/owners/tau.h).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/learn/pilot/whitened.h"

namespace parley::plan {

/// Numbers in a sum: two lengths, and zeros of all owners, of which only noise remains. A learner
/// that makes up masks must hit the range of possible sums in each number
/// (protocol/federated/learner.h); with a single one, at about 1e-7, it could try until it does.
inline constexpr size_t kDistanceNumbers = 4;

/// v_i, from n_i: a large owner counts for no more than the one in the middle, whose number is the
/// noisier.
std::vector<double> distance_weights(std::span<const double> rows);

/// The same of a charter.
std::vector<double> distance_weights(const charter::Charter& charter);

/// The metric of the pilot's Hessian at its optimum, the same for all parties. Refuses a charter
/// without public rows.
Result<std::shared_ptr<const learn::Whitened>> distance_metric(const charter::Charter& charter,
                                                               const data::Rows* pilot);

/// The standard deviation of the noise on the sum over V, the sum of v_i, if all owners take part:
/// s = 2 clip sqrt(k) / (mu V), from the mechanism as it is calibrated.
Result<double> distance_noise(const charter::Charter& charter);

}  // namespace parley::plan
