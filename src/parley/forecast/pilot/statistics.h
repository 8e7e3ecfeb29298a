// Statistics of the public rows (the pilot), which are taken to be a fair sample of the owners'
// rows: their optimum and its loss, the Hessian there, and the sampling error of the optimum of n
// rows. Before that, the rows are transformed as training would transform them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/data/rows.h"
#include "parley/forecast/propagate/expected_loss.h"
#include "parley/learn/solver/moments.h"
#include "parley/learn/solver/optimum.h"

namespace parley::forecast {

using SharedRows = std::shared_ptr<const data::Rows>;

/// Protocols that shorten records instead of gradients do so once, before the first step, and to
/// every record that is predicted.
SharedRows as_trained(const charter::Charter& charter, const SharedRows& rows);
std::vector<SharedRows> as_trained(const charter::Charter& charter,
                                   const std::vector<SharedRows>& many);

// Where owners hold columns of the same records:

/// The owner of every feature of the charter's schema, by index; the bias is the label holder's.
std::vector<size_t> feature_owners(const charter::Charter& charter);
size_t label_holder(const charter::Charter& charter);

/// The charter as if there were no owners but these, given in ascending order.
charter::Charter charter_of(const charter::Charter& charter, const std::vector<size_t>& members);
/// The columns of these owners, of rows that have all columns.
SharedRows features_of(const charter::Charter& charter, const data::Rows& rows,
                       const std::vector<size_t>& members);

/// Rows with every owner's part shortened to its max_row_norm; without a dealer as cells tell them.
SharedRows shortened_parts(const charter::Charter& charter, const data::Rows& rows);

/// Matrices are row-major, p x p. H is the Hessian of f at the optimum (for the hinge loss the
/// density of scores at its kink), G the covariance of one record's gradient there.
struct PilotStatistics {
  std::shared_ptr<const data::Rows> rows{};
  learn::Losses loss{};
  double l2 = 0, box = 0;
  std::optional<size_t> bias{};   // the column that is the intercept
  learn::Optimum optimum{};       // of these rows
  std::vector<double> hessian{};  // H
  std::vector<double> spread{};   // inv(H) G inv(H): covariance of the optimum of n rows, times n
  double sampling = 0;        // B = (1/2) tr(inv(H) G): expected excess of n rows' optimum, times n
  double loss_deviation = 0;  // of one record's loss at the optimum
  std::shared_ptr<const learn::Moments> moments{};       // squared loss only: second moments
  double smallest_curvature = 0, largest_curvature = 0;  // eigenvalues of H

  size_t dimension() const { return optimum.theta.size(); }
  double count() const { return static_cast<double>(rows->size()); }
  /// f*, the least loss, expected of so many owners' rows: the in-sample optimism is B / count on
  /// the pilot's rows and B / owners_rows on theirs.
  double fitness(double owners_rows) const {
    return optimum.fitness + sampling * (1 / count() - 1 / owners_rows);
  }
};

PilotStatistics statistics_of(const learn::Losses& loss, double l2, double box,
                              std::shared_ptr<const data::Rows> rows, int threads = 1);
PilotStatistics statistics_of(const charter::Model& model, std::shared_ptr<const data::Rows> rows,
                              int threads = 1);
/// With the bias of the charter's columns.
PilotStatistics statistics_of(const charter::Charter& charter,
                              std::shared_ptr<const data::Rows> rows, int threads = 1);

/// E of the mean of squares over a distribution of models, and of f; for the squared loss.
double squares_at(const PilotStatistics& statistics, const OutputDistribution& distribution);
double fitness_at(const PilotStatistics& statistics, const OutputDistribution& distribution);

/// Every `groups`-th row from `group` on: subsamples show how uncertain an estimate is.
std::shared_ptr<const data::Rows> part_of(const data::Rows& rows, size_t group, size_t groups);

/// The value below which this share of the values lies, by linear interpolation.
double quantile(std::vector<double> values, double share);

}  // namespace parley::forecast
