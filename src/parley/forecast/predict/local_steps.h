// Local steps on public rows, for many models at a time: one for each synthetic owner, which
// weights the public rows in its own way, or one for each run, which has its own noise.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "parley/base/math/eigen_names.h"
#include "parley/data/rows.h"
#include "parley/forecast/pilot/statistics.h"
#include "parley/learn/federated/local_update.h"
#include "parley/learn/objective.h"

namespace parley::forecast {

class LocalSteps {
 public:
  /// Gradients of records are clipped to `limit` in `norm`.
  LocalSteps(const data::Rows& rows, const learn::LocalPlan& plan, learn::ClipIn norm,
             double limit);
  ~LocalSteps();

  /// K steps of every column of `models`, after `done` earlier ones; `shares`, rows x columns, are
  /// the weights of rows for each column; empty: 1.
  void take(ColumnMatrix& models, const ColumnMatrix& shares, int64_t done) const;
  /// The update of each column, `models` - `from`, clipped to the plan's max_update.
  ColumnMatrix updates(const ColumnMatrix& models, const ColumnVector& from) const;
  /// f of a model on rows weighted by `counts`.
  double fitness(const ColumnVector& model, const ColumnVector& counts) const;
  /// Where f is smallest, from `start` on by Newton steps that are halved while they lead up.
  ColumnVector optimum(ColumnVector start, const ColumnVector& counts) const;

 private:
  ColumnMatrix gradients(const ColumnMatrix& models, const ColumnMatrix& shares) const;

  struct Records;
  learn::LocalPlan plan_;
  std::unique_ptr<const Records> records_;
};

/// What synthetic owners are made to resemble.
struct SyntheticFrom {
  std::span<const double> weights{};  // of the owners, adding up to 1
  std::span<const double> rows{};     // of each of them
  /// tau^2, in units of the loss: the excess on all rows of the best model of one owner's
  /// population, by one Newton step. Rows are weighted by their labels until it is reached; where
  /// sorted labels are not enough, by their gradients.
  double differ = 0;
  size_t rows_most = 2000;  // public rows that are used
};

/// Owners made from public rows: each has all of them, with weights of its own. `shares` are these
/// weights, rows x owners, each column with mean 1.
struct SyntheticOwners {
  std::shared_ptr<const data::Rows> rows{};
  std::shared_ptr<const ColumnMatrix> shares{};
  std::shared_ptr<const ColumnVector> weights{};
  double differ = 0;  // the tau^2 that was reached

  /// The weight of each row over all owners.
  ColumnVector pooled() const;
};

/// At most 12 owners; of more, an evenly spaced selection. Gamma weights stand for finite rows:
/// they give the mean of n rows 1/n of one record's covariance. Always the same draws.
SyntheticOwners synthetic_owners(const PilotStatistics& statistics, const SyntheticFrom& from);

/// How owners differ from the pooled rows at a model: weighted means over the owners.
struct Dissimilarity {
  double gradients = 0;  // zeta^2: |grad J_i - grad J|^2
  double optima = 0;     // Gamma: J_i(theta) - min J_i, by one Newton step
};
Dissimilarity dissimilarity(const PilotStatistics& statistics, const SyntheticOwners& owners,
                            std::span<const double> theta);

}  // namespace parley::forecast
