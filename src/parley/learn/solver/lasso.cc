#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "parley/learn/solver/solvers.h"

namespace parley::learn {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

/// The smooth part of the objective near a point, and the objective there.
struct Near {
  VectorXd gradient;
  double objective = 0;
};

class Lasso {
 public:
  Lasso(const Problem& problem, const Losses& loss, double l1)
      : design_(problem.design), loss_(loss), l2_(problem.l2), l1_(l1), box_(problem.box) {}

  Near at(const VectorXd& theta) {
    scores_.resize(design_.rows());
    design_.scores({theta.data(), design_.columns()}, scores_);
    std::vector<double> slopes(scores_.size());
    each([&](const auto& loss, size_t i, double label) {
      slopes[i] = loss.slope(scores_[i], label);
    });
    Near near{mean(design_.combination(slopes)), 0};
    near.gradient += l2_ * theta;
    near.objective = mean_loss(design_, loss_, scores_) + l2_ / 2 * theta.squaredNorm() +
                     l1_ * theta.lpNorm<1>();
    return near;
  }

  /// Below this far above the minimum over the box: how much the linear bound from here allows.
  double gap(const VectorXd& theta, const Near& near) const {
    double sum = 0;
    for (Index j = 0; j < theta.size(); ++j)
      sum += l1_ * std::fabs(theta[j]) + near.gradient[j] * theta[j] +
             box_ * std::max(0.0, std::fabs(near.gradient[j]) - l1_);
    return sum;
  }

  /// Where the quadratic at `theta`, of which `at` was asked last, with the penalty is least: with
  /// the loss's own curvature, or with the largest that it has anywhere. The second quadratic lies
  /// above the loss, so its least point is never worse; the first is 0 where no record is curved.
  enum class Curvature { kOwn, kLargest };
  VectorXd target(const VectorXd& theta, const Near& near, Curvature which) const {
    constexpr int kPassesMax = 10'000;
    const MatrixXd hessian = curvature(which);
    VectorXd x = theta, pull = near.gradient;  // the quadratic's gradient at x
    const double small = 1e-14 * (l1_ + near.gradient.lpNorm<Eigen::Infinity>());
    for (int pass = 0; pass < kPassesMax; ++pass) {
      double largest = 0;
      for (Index j = 0; j < x.size(); ++j) {
        const double bend = hessian(j, j), wanted = bend * x[j] - pull[j];
        if (bend <= 0) continue;
        const double shrunk = std::copysign(std::max(std::fabs(wanted) - l1_, 0.0), wanted) / bend;
        const double move = std::clamp(shrunk, -box_, box_) - x[j];
        if (move == 0) continue;
        largest = std::max(largest, bend * std::fabs(move));
        pull += move * hessian.col(j);
        x[j] += move;
      }
      if (!(largest > small)) break;
    }
    return x;
  }

 private:
  template <class Work>
  void each(const Work& work) const {
    const std::span<const double> labels = design_.labels();
    std::visit(
        [&](const auto& loss) {
          for (size_t i = 0; i < labels.size(); ++i) work(loss, i, labels[i]);
        },
        loss_);
  }
  VectorXd mean(const std::vector<double>& sum) const {
    return Eigen::Map<const VectorXd>(sum.data(), static_cast<Index>(sum.size())) /
           static_cast<double>(design_.rows());
  }
  MatrixXd curvature(Curvature which) const {
    std::vector<double> weights(design_.rows(), smoothness_of(loss_));
    if (which == Curvature::kOwn)
      each([&](const auto& loss, size_t i, double label) {
        weights[i] = loss.curvature(scores_[i], label);
      });
    const auto columns = static_cast<Index>(design_.columns());
    MatrixXd hessian =
        Eigen::Map<const MatrixXd>(design_.products(weights).data(), columns, columns) /
        static_cast<double>(design_.rows());
    hessian.diagonal().array() += l2_;
    return hessian;
  }

  const Design& design_;
  const Losses& loss_;
  double l2_, l1_, box_;
  std::vector<double> scores_{};
};

}  // namespace

Optimum lasso_optimum(const Problem& problem, const Losses& loss, double l1) {
  constexpr int kStepsMax = 1000;
  Lasso lasso(problem, loss, l1);
  VectorXd theta = VectorXd::Zero(static_cast<Index>(problem.design.columns()));
  Near near = lasso.at(theta);
  for (int step = 0; step < kStepsMax; ++step) {
    if (lasso.gap(theta, near) <= kGapWanted * near.objective) break;
    const double before = near.objective;
    for (const auto which : {Lasso::Curvature::kOwn, Lasso::Curvature::kLargest}) {
      near = lasso.at(theta);  // the scores that the quadratic is made of
      const VectorXd way = lasso.target(theta, near, which) - theta;
      for (double length = 1; length > 1e-10; length /= 2) {
        const VectorXd next = theta + length * way;
        const Near there = lasso.at(next);
        if (!(there.objective < before)) continue;
        theta = next, near = there;
        break;
      }
      if (near.objective < before) break;
    }
    if (near.objective == before) break;  // It cannot be made smaller in computer numbers.
  }
  Optimum optimum{.theta = {theta.begin(), theta.end()},
                  .fitness = near.objective,
                  .solver = "proximal newton"};
  optimum.relative_gap = lasso.gap(theta, near) / near.objective;
  return optimum;
}

}  // namespace parley::learn
