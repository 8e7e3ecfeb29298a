// The fitness f(theta) = (l2/2)|theta|^2 + mean loss over any number of rows, and its optimum, for
// public rows and for the optimum that a simulation compares with. A penalty l1 |theta|_1 may be
// added (the lasso).
#pragma once

#include <span>
#include <variant>
#include <vector>

#include "parley/data/rows.h"
#include "parley/data/sparse_rows.h"
#include "parley/learn/loss.h"
#include "parley/learn/solver/design.h"
#include "parley/learn/solver/moments.h"
#include "parley/learn/solver/optimum.h"

namespace parley::learn {

/// Adding the rows of several owners gives the pooled fitness. The squared loss keeps their second
/// moments only, so that evaluating it costs p^2; other losses pass over the rows each time, and
/// `add` keeps a reference to them. Nothing depends on the number of threads.
class Fitness {
 public:
  Fitness(const Losses& loss, size_t columns, double l2, int threads = 1, double l1 = 0);

  void add(const data::Rows& rows);
  void add(const data::SparseRows& rows);
  size_t rows() const;
  double at(std::span<const double> theta) const;
  std::vector<double> gradient(std::span<const double> theta) const;  // without l1's part

  /// The minimum over |theta_j| <= box. With l1 the loss must have curvature.
  Optimum minimum(double box) const;

 private:
  Losses loss_;
  size_t columns_;
  double l2_;
  int threads_;
  double l1_;
  std::variant<Moments, Design> data_;
};

}  // namespace parley::learn
