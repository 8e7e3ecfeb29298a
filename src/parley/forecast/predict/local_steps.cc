#include "parley/forecast/predict/local_steps.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <utility>

#include "parley/forecast/expect/output_distribution.h"

namespace parley::forecast {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr int kNewtonSteps = 20, kHalvings = 12;

}  // namespace

struct LocalSteps::Records {
  MatrixXd z;  // rows x columns
  VectorXd labels, limits;
};

LocalSteps::LocalSteps(const data::Rows& rows, const learn::LocalPlan& plan, learn::ClipIn norm,
                       double limit)
    : plan_(plan) {
  const auto n = static_cast<Index>(rows.size()), p = static_cast<Index>(rows.columns());
  auto records = std::make_unique<Records>(Records{MatrixXd(n, p), VectorXd(n), VectorXd(n)});
  for (Index i = 0; i < n; ++i) {
    const auto row = rows.row(static_cast<size_t>(i));
    records->z.row(i) = Eigen::Map<const Eigen::RowVectorXd>(row.data(), p);
    records->labels[i] = rows.label(static_cast<size_t>(i));
    records->limits[i] = slope_limit(norm, limit, row);
  }
  records_ = std::move(records);
}
LocalSteps::~LocalSteps() = default;

MatrixXd LocalSteps::gradients(const MatrixXd& models, const MatrixXd& shares) const {
  const auto& [z, labels, limits] = *records_;
  MatrixXd slopes = z * models;
  std::visit(
      [&](const auto& loss) {
        for (Index k = 0; k < slopes.cols(); ++k)
          for (Index i = 0; i < slopes.rows(); ++i)
            slopes(i, k) = std::clamp(loss.slope(slopes(i, k), labels[i]), -limits[i], limits[i]);
      },
      plan_.loss);
  if (shares.size() > 0) slopes.array() *= shares.array();
  return z.transpose() * slopes / static_cast<double>(z.rows()) + plan_.l2 * models;
}

void LocalSteps::take(MatrixXd& models, const MatrixXd& shares, int64_t done) const {
  for (int64_t k = 0; k < plan_.steps; ++k) {
    const auto t = static_cast<double>(done + k);
    const double step =
        plan_.delay > 0 ? plan_.step * (plan_.delay / (plan_.delay + t)) : plan_.step;
    models -= step * gradients(models, shares);
    models = models.cwiseMax(-plan_.box).cwiseMin(plan_.box);
  }
}

MatrixXd LocalSteps::updates(const MatrixXd& models, const VectorXd& from) const {
  MatrixXd moved = models.colwise() - from;
  if (plan_.max_update > 0)
    for (Index k = 0; k < moved.cols(); ++k)
      if (const double length = moved.col(k).norm(); length > plan_.max_update)
        moved.col(k) *= plan_.max_update / length;
  return moved;
}

double LocalSteps::fitness(const VectorXd& model, const VectorXd& counts) const {
  const auto& [z, labels, limits] = *records_;
  const VectorXd scores = z * model;
  double sum = 0;
  std::visit(
      [&](const auto& loss) {
        for (Index i = 0; i < scores.size(); ++i)
          sum += counts[i] * loss.value(scores[i], labels[i]);
      },
      plan_.loss);
  return sum / static_cast<double>(z.rows()) + plan_.l2 / 2 * model.squaredNorm();
}

VectorXd LocalSteps::optimum(VectorXd start, const VectorXd& counts) const {
  const auto& [z, labels, limits] = *records_;
  const auto n = static_cast<double>(z.rows());
  double now = fitness(start, counts);
  for (int step = 0; step < kNewtonSteps; ++step) {
    VectorXd slopes = z * start, curvatures = slopes;
    std::visit(
        [&](const auto& loss) {
          for (Index i = 0; i < slopes.size(); ++i) {
            curvatures[i] = counts[i] * loss.curvature(slopes[i], labels[i]) / n;
            slopes[i] = counts[i] * loss.slope(slopes[i], labels[i]) / n;
          }
        },
        plan_.loss);
    MatrixXd hessian = z.transpose() * curvatures.asDiagonal() * z;
    hessian.diagonal().array() += plan_.l2 + 1e-10 * hessian.diagonal().maxCoeff();
    const VectorXd gradient = z.transpose() * slopes + plan_.l2 * start;
    VectorXd move = hessian.llt().solve(gradient);
    VectorXd next;
    double there = now;
    for (int half = 0; half < kHalvings; ++half, move /= 2) {
      next = (start - move).cwiseMax(-plan_.box).cwiseMin(plan_.box);
      if ((there = fitness(next, counts)) <= now) break;
    }
    if (!(there < now)) break;
    const bool done = now - there < 1e-10 * std::fabs(now);
    start = next, now = there;
    if (done) break;
  }
  return start;
}

}  // namespace parley::forecast
