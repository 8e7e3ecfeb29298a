// Local steps on public rows, of many models side by side: owners that count rows differently, or
// runs with noise of their own.
#pragma once

#include <Eigen/Core>

#include "parley/data/rows.h"
#include "parley/learn/federated/local_update.h"
#include "parley/learn/objective.h"

namespace parley::forecast {

class LocalSteps {
 public:
  /// Gradients of records are clipped to `limit` in `norm`.
  LocalSteps(const data::Rows& rows, const learn::LocalPlan& plan, learn::ClipIn norm,
             double limit);

  /// K steps of every column of `models`, after `done` earlier ones; `shares` is rows x columns,
  /// how much each counts a row, or empty.
  void take(Eigen::MatrixXd& models, const Eigen::MatrixXd& shares, int64_t done) const;
  /// What moved each column away from `from`, no longer than the plan's longest update.
  Eigen::MatrixXd updates(const Eigen::MatrixXd& models, const Eigen::VectorXd& from) const;
  /// f of a model, rows counted by `counts`.
  double fitness(const Eigen::VectorXd& model, const Eigen::VectorXd& counts) const;
  /// Where f is smallest, from `start` on by Newton steps that are halved while they lead up.
  Eigen::VectorXd optimum(Eigen::VectorXd start, const Eigen::VectorXd& counts) const;

 private:
  Eigen::MatrixXd gradients(const Eigen::MatrixXd& models, const Eigen::MatrixXd& shares) const;

  learn::LocalPlan plan_;
  Eigen::MatrixXd z_;  // rows x columns
  Eigen::VectorXd labels_, limits_;
};

}  // namespace parley::forecast
