// The asynchronous predictor (spec, horizontal 4.3): exact second moments of equations (5) to (7)
// on a quadratic, box not active, of owners that differ in weights, clocks, noise, and in their
// gradients at the optimum: rows are finite, and each owner's pull another way whenever it comes.
// How far is public: owner i's mean gradient of n_i rows has the covariance of one record's, over
// n_i (4.3(b) with its q_i), and more if owners are declared to differ. Where it is known that an
// owner's rows also have a curvature of their own (H_i), it counts along each direction by itself.
//
// Owners alike in all of this are exchangeable: of a group it is enough to carry E theta_i^2,
// E theta_i theta_j, E theta_L theta_i and E theta_i, and the same with the pulls, whatever its
// size. One group is 4.3(a).
#pragma once

#include <span>
#include <vector>

#include "parley/learn/schedule/async_descent.h"

namespace parley::forecast {

/// Owners alike; `rule.owners` has as many as all groups together, and is not looked at.
struct AsyncGroup {
  double owners = 0;              // how many
  double probability = 0;         // of one of them to come next; over all owners they add up to 1
  double weight = 0;              // v_i
  double variance = 0;            // of the noise on one coordinate of its mean gradient
  double rows = 0;                // n_i; 0: endless
  double relative_curvature = 1;  // of its own rows, in units of the direction's
};

/// One direction: curvature h of the mean loss, l2 apart, and its coordinate of theta*.
struct AsyncDirection {
  double curvature = 0;
  double optimum = 0;
  double record_variance = 0;  // of one record's gradient at the optimum; 0: owners are alike
  /// Of an owner's mean gradient at the optimum, for other reasons than the chance of its rows: the
  /// mean over owners, each counting by its rows.
  double differ_variance = 0;
};

/// Mean and second moment of (output - theta*) along a direction.
struct AsyncMoments {
  double mean = 0;
  double square = 0;
};

/// Steps are a / probability, as AsyncRule::set_steps makes them; everything starts at zero.
/// Answers are supposed never to run out: an owner's cap counts in its variance only.
AsyncMoments async_moments(const learn::AsyncRule& rule, std::span<const AsyncGroup> groups,
                           AsyncDirection direction);

/// At most `most` groups of a rule's owners, whose noise has these variances, who hold so many
/// rows of these relative curvatures (none given: all alike): exact if there are no more kinds of
/// owners, else neighbours in weight, noise and curvature are taken for their mean.
std::vector<AsyncGroup> grouped(const learn::AsyncRule& rule, std::span<const double> variances,
                                std::span<const double> rows, size_t most,
                                std::span<const double> curvatures = {});

}  // namespace parley::forecast
