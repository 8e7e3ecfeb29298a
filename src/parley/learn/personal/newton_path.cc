#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "parley/learn/personal/paths.h"
#include "parley/learn/solver/box.h"

namespace parley::learn {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using Eigen::Index;

constexpr int kNewtonSteps = 50;
/// A step that promises less than this part of the objective is the last one; it leaves less than
/// the square of it.
constexpr double kPromiseWanted = 1e-10;

/// What(score, label) of the rows that count, zero for the others.
template <class What>
std::vector<double> of_used(const Used& rows, const std::vector<double>& scores, const What& what) {
  const std::span<const double> labels = rows.design.labels();
  std::vector<double> result(scores.size());
  for (size_t i = 0; i < scores.size(); ++i)
    if (rows.use[i] != 0) result[i] = what(scores[i], labels[i]) / rows.count;
  return result;
}

/// F(theta) = mean loss + (nu/2) (theta - s)' M (theta - s), one nu after the other.
template <Loss L>
class NewtonPath {
 public:
  NewtonPath(const Used& rows, const L& loss, const Pull& pull, const std::vector<double>& centre)
      : rows_(rows),
        loss_(loss),
        metric_(pull.metric),
        p_(static_cast<Index>(centre.size())),
        centre_(Eigen::Map<const Vector>(centre.data(), p_)),
        theta_(centre_),
        scores_(rows.design.rows()) {
    rows.design.scores(centre, scores_);
  }

  std::vector<double> minimise(double nu) {
    for (int k = 0; k < kNewtonSteps && step(nu); ++k) {
    }
    return {theta_.begin(), theta_.end()};
  }

 private:
  Eigen::Map<const Matrix> metric() const { return {metric_.data(), p_, p_}; }

  /// False after the last step.
  bool step(double nu) {
    const Vector pulled = nu * (metric() * (theta_ - centre_));
    const Vector gradient = loss_gradient() + pulled;
    const Vector d = -newton_factor(nu).solve(gradient);
    const double promise = -gradient.dot(d);
    if (!(promise > 0)) return false;  // Not for NaN either.
    std::vector<double> change(scores_.size());
    rows_.design.scores(std::span(d.data(), size_t(p_)), change);
    const double before = value(nu, theta_, scores_);
    const bool last = promise <= kPromiseWanted * (1 + std::fabs(before));
    for (double part = 1; part > 1e-6; part /= 2) {
      std::vector<double> scores = scores_;
      for (size_t i = 0; i < scores.size(); ++i) scores[i] += part * change[i];
      const Vector theta = theta_ + part * d;
      // So near the minimum that rounding hides the descent, the whole step is right.
      if (!last && !(value(nu, theta, scores) <= before - 0.1 * part * promise)) continue;
      theta_ = theta, scores_ = std::move(scores);
      return !last;
    }
    return false;
  }

  double value(double nu, const Vector& theta, const std::vector<double>& scores) const {
    const auto losses =
        of_used(rows_, scores, [&](double u, double y) { return loss_.value(u, y); });
    double sum = 0;
    for (double loss : losses) sum += loss;
    const Vector apart = theta - centre_;
    return sum + nu / 2 * apart.dot(metric() * apart);
  }

  Vector loss_gradient() const {
    const auto gradient = rows_.design.combination(
        of_used(rows_, scores_, [&](double u, double y) { return loss_.slope(u, y); }));
    return Eigen::Map<const Vector>(gradient.data(), p_);
  }

  Eigen::LLT<Matrix> newton_factor(double nu) const {
    const auto hessian = rows_.design.products(
        of_used(rows_, scores_, [&](double u, double y) { return loss_.curvature(u, y); }));
    Matrix whole = Eigen::Map<const Matrix>(hessian.data(), p_, p_) + nu * metric();
    whole.diagonal().array() += smallest_ridge({whole.data(), size_t(p_ * p_)}, size_t(p_));
    return Eigen::LLT<Matrix>(whole);
  }

  const Used& rows_;
  const L& loss_;
  const std::vector<double>& metric_;
  Index p_;
  Vector centre_, theta_;
  std::vector<double> scores_;  // of all rows, at theta
};

}  // namespace

std::vector<std::vector<double>> newton_models(const Used& rows, const Losses& loss,
                                               const Pull& pull) {
  std::vector<std::vector<double>> models;
  std::visit(
      [&](const auto& known) {
        for (const std::vector<double>& centre : pull.centres) {
          NewtonPath path(rows, known, pull, centre);
          for (double nu : pull.strengths) models.push_back(path.minimise(nu));
        }
      },
      loss);
  return models;
}

double best_step_along(const Used& rows, const Losses& loss, std::span<const double> theta,
                       size_t coordinate) {
  std::vector<double> scores(rows.design.rows()), column(rows.design.rows());
  std::vector<double> axis(theta.size());
  axis[coordinate] = 1;
  rows.design.scores(theta, scores), rows.design.scores(axis, column);
  const std::span<const double> labels = rows.design.labels();
  struct Derivatives {
    double slope = 0, curvature = 0;
  };
  const auto derivatives = [&](double step) {
    Derivatives sum;
    std::visit(
        [&](const auto& known) {
          for (size_t i = 0; i < scores.size(); ++i) {
            if (rows.use[i] == 0) continue;
            const double u = scores[i] + step * column[i], z = column[i] / rows.count;
            sum.slope += known.slope(u, labels[i]) * z;
            sum.curvature += known.curvature(u, labels[i]) * z * column[i];
          }
        },
        loss);
    return sum;
  };
  double step = 0;
  Derivatives here = derivatives(0);
  for (int k = 0; k < kNewtonSteps && std::fabs(here.slope) > 1e-8; ++k) {
    double change = std::clamp(-here.slope / std::max(here.curvature, 1e-6), -4.0, 4.0);
    Derivatives next = derivatives(step + change);
    for (int half = 0; half < 30 && !(std::fabs(next.slope) < std::fabs(here.slope)); ++half)
      change /= 2, next = derivatives(step + change);
    step += change, here = next;
  }
  return step;
}

}  // namespace parley::learn
