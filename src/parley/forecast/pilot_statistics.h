// What public rows say about the owners' rows, of which they are taken to be a fair sample: the
// optimum and how good it is, the curvature there, and how far the optimum of n rows strays.
#pragma once

#include <memory>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/data/rows.h"
#include "parley/forecast/expect/output_distribution.h"
#include "parley/learn/solver/moments.h"
#include "parley/learn/solver/optimum.h"

namespace parley::forecast {

/// Matrices are row-major, p x p. H is the Hessian of f at the optimum (for the hinge loss the
/// density of scores at its kink), G the covariance of one record's gradient there.
struct PilotStatistics {
  std::shared_ptr<const data::Rows> rows{};
  learn::Losses loss{};
  double l2 = 0, box = 0;
  learn::Optimum optimum{};       // of these rows
  std::vector<double> hessian{};  // H
  std::vector<double> spread{};   // inv(H) G inv(H): covariance of the optimum of n rows, times n
  double sampling = 0;            // B = (1/2) tr(inv(H) G): what n rows miss of the best, times n
  double loss_deviation = 0;      // of one record's loss at the optimum
  std::shared_ptr<const learn::Moments>
      moments{};  // for the squared loss: all it needs of the rows
  double smallest_curvature = 0, largest_curvature = 0;  // eigenvalues of H

  size_t dimension() const { return optimum.theta.size(); }
  double count() const { return static_cast<double>(rows->size()); }
  /// f* that so many owners' rows are expected to have: the in-sample optimism is
  /// B / count on these rows and B / owners_rows on theirs.
  double fitness(double owners_rows) const {
    return optimum.fitness + sampling * (1 / count() - 1 / owners_rows);
  }
};

PilotStatistics statistics_of(const learn::Losses& loss, double l2, double box,
                              std::shared_ptr<const data::Rows> rows, int threads = 1);
PilotStatistics statistics_of(const charter::Model& model, std::shared_ptr<const data::Rows> rows,
                              int threads = 1);

/// E of the mean of squares over a distribution of models, and of f; for the squared loss.
double squares_at(const PilotStatistics& statistics, const OutputDistribution& distribution);
double fitness_at(const PilotStatistics& statistics, const OutputDistribution& distribution);

/// Every `groups`-th row from `group` on, for estimates of what rows leave uncertain.
std::shared_ptr<const data::Rows> part_of(const data::Rows& rows, size_t group, size_t groups);

}  // namespace parley::forecast
