// The exact predictor (spec, horizontal 4.2): moments of a schedule's output on a quadratic whose
// box is not active, under any zero-mean noise that is independent from round to round.
//
// The output is linear in the start and in the noise of every round. In coordinates in which the
// rounds do not mix directions (the eigenvectors of the curvature, seen through the preconditioner)
// both coefficients are numbers, found by walking the schedule table once, backwards.
#pragma once

#include <span>
#include <vector>

#include "parley/learn/schedule/schedule.h"

namespace parley::forecast {

/// f(theta) - f* = (1/2) e' H e with e = theta - theta*. Matrices are row-major, p x p.
struct Quadratic {
  std::vector<double> hessian{};       // H, l2 included
  std::vector<double> start{};         // theta[1] - theta*
  std::vector<double> start_spread{};  // covariance of the start, where it is random; or empty
};

struct ExactMoments {
  double optimisation = 0;  // E f - f* without noise
  double noise_gain = 0;    // E f - f* = optimisation + noise_gain s2, s2 = Var of one coordinate
  std::vector<double> mean{};        // of output - theta*
  std::vector<double> start_part{};  // covariance of the output that the start's spread leaves
  std::vector<double> noise_part{};  // covariance of the output under noise of variance 1
};

/// `variance_factor` multiplies the variance, round by round; empty: all alike.
ExactMoments exact_moments(const Quadratic& quadratic, const learn::Schedule& schedule,
                           std::span<const double> variance_factor = {});

/// The costs alone, for many schedules on one quadratic that share their preconditioner.
class ExactCosts {
 public:
  /// `preconditioner` is that of the schedules, empty for the identity.
  ExactCosts(const Quadratic& quadratic, std::span<const double> preconditioner);

  struct Costs {
    double optimisation = 0;
    double noise_gain = 0;
  };
  Costs of(const learn::Schedule& schedule, std::span<const double> variance_factor = {}) const;

 private:
  struct Direction {
    double curvature, start, noise;  // E of the start's square, and of the noise's
  };
  std::vector<Direction> directions_{};
};

/// (1/2) sum of H_ij (m_i m_j + C_ij): what a mean error and a covariance cost.
double quadratic_cost(std::span<const double> hessian, std::span<const double> mean,
                      std::span<const double> covariance);

}  // namespace parley::forecast
