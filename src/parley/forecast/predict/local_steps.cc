#include "parley/forecast/predict/local_steps.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "parley/base/math/eigen.h"
#include "parley/base/math/seeded_random.h"
#include "parley/forecast/propagate/expected_loss.h"
#include "parley/learn/objective.h"

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

namespace {

constexpr size_t kOwnersMost = 12;

/// Marsaglia and Tsang 2000, of mean 1; below shape 1 by one power of a uniform number.
double gamma_share(SeededRandom& random, double shape) {
  const double boost = shape < 1 ? std::pow(random.uniform(), 1 / shape) : 1;
  const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal(), root = 1 + c * x, v = root * root * root;
    if (v > 0 && std::log(random.uniform()) < x * x / 2 + d - d * v + d * std::log(v))
      return boost * d * v / shape;
  }
}

/// One record's gradient at a model, without l2: its slope times its row.
VectorXd slopes_at(const PilotStatistics& statistics, const data::Rows& rows,
                   std::span<const double> theta) {
  VectorXd slopes(static_cast<Index>(rows.size()));
  Index next = 0;
  learn::each_gradient(statistics.loss, rows, theta, learn::ClipIn::kNone, 0,
                       [&](std::span<const double>, double slope) { slopes[next++] = slope; });
  return slopes;
}

/// Owners' gradients minus the pooled gradient, one column each.
MatrixXd pulls(const PilotStatistics& statistics, const data::Rows& rows, const MatrixXd& shares,
               const VectorXd& pooled, std::span<const double> theta) {
  const VectorXd slopes = slopes_at(statistics, rows, theta);
  MatrixXd counted = shares.colwise() - pooled;
  for (Index k = 0; k < counted.cols(); ++k) counted.col(k).array() *= slopes.array();
  MatrixXd gradients = MatrixXd::Zero(static_cast<Index>(rows.columns()), shares.cols());
  for (size_t i = 0; i < rows.size(); ++i) {
    const Eigen::Map<const VectorXd> z(rows.row(i).data(), gradients.rows());
    gradients.noalias() += z * counted.row(static_cast<Index>(i));
  }
  return gradients / static_cast<double>(rows.size());
}

MatrixXd hessian_of(const PilotStatistics& statistics) {
  const auto p = static_cast<Index>(statistics.dimension());
  MatrixXd hessian = Eigen::Map<const MatrixXd>(statistics.hessian.data(), p, p);
  hessian.diagonal().array() +=
      1e-10 * statistics.largest_curvature;  // Rows may leave directions flat.
  return hessian;
}

/// Directions along which owners weight rows, one column each: by labels, from one sign to the
/// other.
MatrixXd by_labels(const data::Rows& rows, Index owners) {
  VectorXd labels = Eigen::Map<const VectorXd>(rows.labels(), static_cast<Index>(rows.size()));
  labels.array() -= labels.mean();
  const double deviation = std::sqrt(labels.squaredNorm() / static_cast<double>(rows.size()));
  if (deviation > 0) labels /= deviation;
  MatrixXd found(labels.size(), owners);
  for (Index k = 0; k < owners; ++k)
    found.col(k) = (2 * (static_cast<double>(k) + .5) / static_cast<double>(owners) - 1) * labels;
  return found;
}

/// Or by the records' gradients along a random direction for each owner, in the Hessian's metric.
MatrixXd by_gradients(const PilotStatistics& statistics, const data::Rows& rows,
                      const Eigen::LLT<MatrixXd>& hessian, Index owners) {
  const VectorXd slopes = slopes_at(statistics, rows, statistics.optimum.theta);
  MatrixXd directions(static_cast<Index>(rows.columns()), owners);
  SeededRandom random(13, 0);
  for (double& value : directions.reshaped()) value = random.normal();
  const MatrixXd along = hessian.matrixU().solve(directions);
  MatrixXd found(slopes.size(), owners);
  for (Index i = 0; i < slopes.size(); ++i) {
    const auto row = rows.row(static_cast<size_t>(i));
    found.row(i) =
        slopes[i] * (Eigen::Map<const Eigen::RowVectorXd>(row.data(), along.rows()) * along);
  }
  for (Index k = 0; k < owners; ++k)
    found.col(k) /= std::sqrt(found.col(k).squaredNorm() / static_cast<double>(slopes.size()));
  return found;
}

/// Weights exp(strength * along), scaled so that all owners together weight every row by 1.
MatrixXd tilted(const MatrixXd& along, const VectorXd& weights, double strength) {
  MatrixXd shares = (strength * along).array().min(300.0).max(-300.0).exp();
  for (int pass = 0; pass < 50; ++pass) {  // until rows and owners both come out even
    for (Index k = 0; k < shares.cols(); ++k) shares.col(k) /= shares.col(k).mean();
    const VectorXd all = shares * weights;
    for (Index k = 0; k < shares.cols(); ++k) shares.col(k).array() /= all.array();
  }
  for (Index k = 0; k < shares.cols(); ++k) shares.col(k) /= shares.col(k).mean();
  return shares;
}

/// The weights at which the best models of owners have the excess `wanted` on all rows, in the mean
/// and by one Newton step: along labels, or along gradients where sorted labels are not enough.
/// (The excess of exact optima would be dominated by the few owners with hardly more than one
/// class.)
MatrixXd tilted_by(const PilotStatistics& statistics, const data::Rows& rows,
                   const VectorXd& weights, double wanted, double& reached) {
  constexpr double kSorted = 20;
  const Eigen::LLT<MatrixXd> hessian(hessian_of(statistics));
  MatrixXd along = by_labels(rows, weights.size());
  const auto missed = [&](double strength) {
    const MatrixXd shares = tilted(along, weights, strength);
    const MatrixXd own =
        pulls(statistics, rows, shares, shares * weights, statistics.optimum.theta);
    return (own.cwiseProduct(hessian.solve(own)).colwise().sum() * weights / 2).value();
  };
  if (missed(kSorted) < wanted) along = by_gradients(statistics, rows, hessian, weights.size());
  double low = 0, high = kSorted;
  if (missed(high) > wanted)
    for (int i = 0; i < 25; ++i) {
      const double middle = (low + high) / 2;
      (missed(middle) < wanted ? low : high) = middle;
    }
  reached = missed(high);
  return tilted(along, weights, high);
}

}  // namespace

VectorXd SyntheticOwners::pooled() const { return *shares * *weights; }

SyntheticOwners synthetic_owners(const PilotStatistics& statistics, const SyntheticFrom& from) {
  const size_t all = from.weights.size(), count = std::min(all, kOwnersMost);
  const size_t apart = std::max<size_t>(1, statistics.rows->size() / from.rows_most);
  SyntheticOwners made{.rows = part_of(*statistics.rows, 0, apart)};
  const auto n = static_cast<Index>(made.rows->size());
  VectorXd weights(static_cast<Index>(count));
  std::vector<double> rows;
  for (size_t k = 0; k < count; ++k) {
    const size_t i = k * all / count;
    weights[static_cast<Index>(k)] = from.weights[i];
    rows.push_back(from.rows[i]);
  }
  weights /= weights.sum();
  MatrixXd shares = MatrixXd::Ones(n, static_cast<Index>(count));
  if (from.differ > 0)
    shares = tilted_by(statistics, *made.rows, weights, from.differ, made.differ);
  SeededRandom random(11, 0);
  for (Index k = 0; k < shares.cols(); ++k) {
    const double shape = rows[static_cast<size_t>(k)] / static_cast<double>(n);
    for (Index i = 0; i < n; ++i) shares(i, k) *= gamma_share(random, shape);
    shares.col(k) /= shares.col(k).mean();
  }
  made.shares = std::make_shared<const MatrixXd>(std::move(shares));
  made.weights = std::make_shared<const VectorXd>(std::move(weights));
  return made;
}

Dissimilarity dissimilarity(const PilotStatistics& statistics, const SyntheticOwners& owners,
                            std::span<const double> theta) {
  const MatrixXd own = pulls(statistics, *owners.rows, *owners.shares, owners.pooled(), theta);
  const Eigen::LLT<MatrixXd> hessian(hessian_of(statistics));
  const VectorXd squares = own.colwise().squaredNorm().transpose();
  const VectorXd missed = own.cwiseProduct(hessian.solve(own)).colwise().sum().transpose();
  return {squares.dot(*owners.weights), missed.dot(*owners.weights) / 2};
}

}  // namespace parley::forecast
