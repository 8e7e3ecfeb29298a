// An owner's loss over all or some of its own rows, and the models that minimise it plus a
// quadratic penalty (a pull towards s):
//
//   theta(nu, s, M) = argmin  mean loss over the rows  +  (nu/2) (theta - s)' M (theta - s).
//
// nu = 0 would be the owner's own optimum; for nu = infinity the model is s. A ridge besides the
// pull needs no second parameter: l2|t|^2 + mu|t - J|^2 = (l2 + mu)|t - J mu/(l2 + mu)|^2 + a
// constant.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "parley/learn/loss.h"
#include "parley/learn/personal/pull.h"
#include "parley/learn/solver/design.h"
#include "parley/learn/solver/moments.h"

namespace parley::learn {

/// Squared loss: from second moments, one Cholesky factor and one eigendecomposition per metric,
/// after which every (nu, s) costs p^2. Logistic and Huber's loss: damped Newton steps, each nu
/// starting from the model of the next larger one. The hinge has no curvature: not for this class.
/// The same bits whatever the number of threads, which the design decides.
class OwnLoss {
 public:
  /// Over the rows with use[i]. Keeps a reference to the design.
  OwnLoss(const Losses& loss, const Design& design, const std::vector<bool>& use);

  size_t rows() const { return rows_; }
  double mean(std::span<const double> theta) const;

  /// For one centre after the other, every strength in the given order.
  std::vector<std::vector<double>> models(const Pull& pull) const;

  /// The centre with the best bias for these rows.
  std::vector<double> own_bias(std::vector<double> centre, size_t bias) const;

 private:
  Losses loss_;
  const Design& design_;
  size_t rows_;
  std::vector<double> weights_;       // in the mean: 1 / rows or 0
  std::optional<Moments> moments_{};  // of the squared loss
};

}  // namespace parley::learn
