// Exact moments on a quadratic loss whose box is not active, under any zero-mean noise that is
// independent from round to round; and the response: expected excess against the noise's variance.
//
// Of a synchronous schedule the output is linear in the start and in the noise of every round.
// Along the eigenvectors of the preconditioned Hessian both coefficients are numbers, found by
// walking the schedule table once, backwards.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "parley/learn/schedule/async_descent.h"
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

// Asynchronous jobs: exact second moments of equations (5) to (7) of Farokhi et al. Owners differ
// in weights, clocks, noise, and in their gradients at the joint optimum ("pulls"), which are not
// zero because rows are finite: owner i's mean gradient has the covariance of one record's gradient
// over n_i, and more if owners are declared to differ. Where owners paid for moments, each one's
// own Hessian counts as well, along each direction by itself.
//
// Owners alike in all of this are exchangeable. Of a group of them it is enough to carry E
// theta_i^2, E theta_i theta_j, E theta_L theta_i and E theta_i, and the same with the pulls,
// whatever its size.

/// Owners that are alike. `rule.owners` has as many as all groups together, and is not read.
struct AsyncGroup {
  double owners = 0;              // how many
  double probability = 0;         // of one of them to come next; over all owners they add up to 1
  double weight = 0;              // v_i
  double variance = 0;            // of the noise on one coordinate of its mean gradient
  double rows = 0;                // n_i; 0: infinitely many
  double relative_curvature = 1;  // of its own rows, in units of the direction's
};

/// One direction: curvature h of the mean loss, l2 apart, and its coordinate of theta*.
struct AsyncDirection {
  double curvature = 0;
  double optimum = 0;
  double record_variance = 0;  // of one record's gradient at the optimum; 0: owners are alike
  /// Variance of owners' mean gradients at the optimum beyond what finite rows explain: the mean
  /// over owners, weighted by their rows.
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

/// The owners of a rule in at most `most` groups, by the variance of their noise, their rows and
/// their relative curvatures (none given: 1). Exact if there are no more kinds of owners; else
/// neighbours in weight, noise and curvature are replaced by their mean.
std::vector<AsyncGroup> grouped(const learn::AsyncRule& rule, std::span<const double> variances,
                                std::span<const double> rows, size_t most,
                                std::span<const double> curvatures = {});

/// Expected excess loss as a function of the variance of the noise in the weighted mean gradient: a
/// line where the problem is quadratic, else a table from a few propagations. Questions about other
/// budgets, owners and weights are answered from it without a new prediction.
class Response {
 public:
  /// floor + gain variance.
  static Response line(double floor, double gain);
  /// Two or more points (variance, excess), variances ascending from 0. Between points the excess
  /// above the floor is a power of the variance, beyond them the last such power.
  static Response table(std::vector<std::pair<double, double>> points);

  double floor() const { return points_.front().second; }
  double at(double variance) const;
  /// Its derivative.
  double gain(double variance) const;
  /// The variance at which `excess` is reached; 0 if the floor is not below it.
  double variance_for(double excess) const;
  /// All excesses times `factor`.
  Response scaled(double factor) const;

 private:
  explicit Response(std::vector<std::pair<double, double>> points);
  std::vector<std::pair<double, double>> points_;  // a line has two
};

// The papers' bounds, for comparison only. Their constants as proved are far too large; with fitted
// constants, and a constant term that the bounds lack, they can be compared with forecasts.

/// psi = floor + root sqrt(S) + line S, S = sum of 1/epsilon_i^2 over n^2 or anything proportional.
struct BoundFit {
  double floor = 0, root = 0, line = 0;
  double at(double s) const;
};

enum class BoundForm {
  kSmooth,   // Wu et al. (9): floor and line
  kGeneral,  // Wu et al. (11): floor and root
  kAsync     // Farokhi et al. (11): all three
};

/// (S, psi): no coefficient below zero, and the relative errors as small as that allows.
BoundFit fit_bound(std::span<const std::pair<double, double>> points, BoundForm form);

}  // namespace parley::forecast
