// The fitness f(theta) = (l2/2)|theta|^2 + mean loss, in plain doubles: for public rows, for
// reference optima in simulation, and as the reference that the owner's kernel is tested against.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parley/learn/data/rows.h"
#include "parley/learn/loss.h"

namespace parley::learn {

/// A minimiser with a certificate: fitness <= (smallest possible)(1 + relative_gap).
struct Optimum {
  std::vector<double> theta;
  double fitness = 0;
  std::string solver;
  double relative_gap = 0;
};

/// Squared loss over any number of rows, kept as second moments: adding rows of several owners
/// gives the pooled fitness, and evaluating it costs p^2, however many rows there are.
class SquaredFitness {
 public:
  SquaredFitness(size_t columns, double l2) : columns_(columns), l2_(l2), moments_(size_of()) {}

  void add(const Rows& rows);
  double at(std::span<const double> theta) const;
  std::vector<double> gradient(std::span<const double> theta) const;
  size_t rows() const { return rows_; }

  /// The minimum over |theta_j| <= box: Cholesky where it lies inside, else coordinate descent. The
  /// gap is certified by the largest first-order decrease over the box (f is convex).
  Optimum minimum(double box) const;

 private:
  size_t width() const { return columns_ + 1; }  // The label is one more column.
  size_t size_of() const { return width() * width(); }
  double moment(size_t i, size_t j) const { return moments_[i * width() + j] / double(rows_); }
  double certified_gap(std::span<const double> theta, double box) const;

  size_t columns_;
  double l2_;
  size_t rows_ = 0;
  std::vector<double> moments_;  // sums of products of (z, y)
};

enum class ClipIn { kNone, kL1, kL2 };

/// The mean record gradient, each record's clipped to `limit` in the given norm (the papers' Q_i).
std::vector<double> mean_gradient(const Rows& rows, std::span<const double> theta, ClipIn norm,
                                  double limit);

/// The Hessian of f with clipped records: those at their limit have no curvature. Row-major p x p.
std::vector<double> clipped_hessian(const Rows& rows, std::span<const double> theta, ClipIn norm,
                                    double limit, double l2);

/// The inverse of a symmetric positive definite matrix, or nothing if it is not one.
std::optional<std::vector<double>> inverse(std::span<const double> matrix, size_t dimension);

}  // namespace parley::learn
