// Local steps on public rows, of many models side by side: owners that count rows differently, or
// runs with noise of their own.
#pragma once

#include <cstdint>
#include <memory>

#include "parley/base/math/eigen_names.h"
#include "parley/data/rows.h"
#include "parley/learn/federated/local_update.h"
#include "parley/learn/objective.h"

namespace parley::forecast {

class LocalSteps {
 public:
  /// Gradients of records are clipped to `limit` in `norm`.
  LocalSteps(const data::Rows& rows, const learn::LocalPlan& plan, learn::ClipIn norm,
             double limit);
  ~LocalSteps();

  /// K steps of every column of `models`, after `done` earlier ones; `shares` is rows x columns,
  /// how much each counts a row, or empty.
  void take(ColumnMatrix& models, const ColumnMatrix& shares, int64_t done) const;
  /// What moved each column away from `from`, no longer than the plan's longest update.
  ColumnMatrix updates(const ColumnMatrix& models, const ColumnVector& from) const;
  /// f of a model, rows counted by `counts`.
  double fitness(const ColumnVector& model, const ColumnVector& counts) const;
  /// Where f is smallest, from `start` on by Newton steps that are halved while they lead up.
  ColumnVector optimum(ColumnVector start, const ColumnVector& counts) const;

 private:
  ColumnMatrix gradients(const ColumnMatrix& models, const ColumnMatrix& shares) const;

  struct Records;
  learn::LocalPlan plan_;
  std::unique_ptr<const Records> records_;
};

}  // namespace parley::forecast
