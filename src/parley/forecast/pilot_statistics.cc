#include "parley/forecast/pilot_statistics.h"

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <cmath>

#include "parley/base/memory/parallel.h"
#include "parley/learn/fitness.h"
#include "parley/learn/objective.h"
#include "parley/learn/solver/products.h"
#include "parley/learn/solver/solvers.h"

namespace parley::forecast {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix matrix(const std::vector<double>& values, size_t p) {
  const auto n = static_cast<Eigen::Index>(p);
  return Eigen::Map<const Matrix>(values.data(), n, n);
}

/// G, without the square of the mean gradient, which is l2 theta at the optimum.
Matrix gradient_squares(const PilotStatistics& statistics) {
  const size_t p = statistics.dimension();
  std::vector<double> squares;
  learn::each_gradient(
      statistics.loss, *statistics.rows, statistics.optimum.theta, learn::ClipIn::kNone, 0,
      [&](std::span<const double>, double slope) { squares.push_back(slope * slope); });
  learn::ProductSum sum(p, statistics.rows->stride());
  sum.add(statistics.rows->values(), squares.data(), statistics.rows->size());
  sum.flush();
  const auto n = static_cast<Eigen::Index>(p);
  Matrix result(n, n);
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j < p; ++j)
      result(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
          sum.at(i, j) / statistics.count();
  const auto mean = statistics.moments
                        ? statistics.moments->gradient(statistics.optimum.theta)
                        : learn::mean_gradient(statistics.loss, *statistics.rows,
                                               statistics.optimum.theta, learn::ClipIn::kNone, 0);
  const Eigen::Map<const Eigen::VectorXd> m(mean.data(), n);
  return result - m * m.transpose();
}

/// Directions without curvature are left out: no model differs along them.
void spread_from(PilotStatistics& statistics) {
  const size_t p = statistics.dimension();
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(matrix(statistics.hessian, p));
  statistics.smallest_curvature = solver.eigenvalues().minCoeff();
  statistics.largest_curvature = solver.eigenvalues().maxCoeff();
  Eigen::VectorXd inverse = solver.eigenvalues();
  for (double& h : inverse) h = h > 1e-10 * statistics.largest_curvature ? 1 / h : 0;
  const Matrix inverted =
      solver.eigenvectors() * inverse.asDiagonal() * solver.eigenvectors().transpose();
  const Matrix gradients = gradient_squares(statistics);
  const Matrix spread = inverted * gradients * inverted;
  statistics.spread.assign(spread.data(), spread.data() + spread.size());
  statistics.sampling = inverted.cwiseProduct(gradients).sum() / 2;
}

double loss_deviation(const PilotStatistics& statistics) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < statistics.rows->size(); ++i) {
    const auto z = statistics.rows->row(i);
    double score = 0;
    for (size_t j = 0; j < z.size(); ++j) score += z[j] * statistics.optimum.theta[j];
    const double value =
        std::visit([&](const auto& loss) { return loss.value(score, statistics.rows->label(i)); },
                   statistics.loss);
    sum += value, squares += value * value;
  }
  const double n = statistics.count();
  return std::sqrt(std::fmax(squares / n - sum / n * (sum / n), 0));
}

/// Squares need no second pass over the rows for these.
void optimum_of_squares(PilotStatistics& statistics, int threads) {
  const size_t p = statistics.rows->columns();
  auto moments = std::make_shared<learn::Moments>(p);
  moments->add(*statistics.rows, threads);
  statistics.optimum = learn::squared_optimum(*moments, statistics.l2, statistics.box);
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j < p; ++j)
      statistics.hessian.push_back(2 * moments->product(i, j) + (i == j ? statistics.l2 : 0));
  statistics.moments = std::move(moments);
}

void optimum_of_rows(PilotStatistics& statistics, int threads) {
  learn::Fitness fitness(statistics.loss, statistics.rows->columns(), statistics.l2, threads);
  fitness.add(*statistics.rows);
  statistics.optimum = fitness.minimum(statistics.box);
  statistics.hessian =
      learn::smoothed_hessian(statistics.loss, *statistics.rows, statistics.optimum.theta,
                              learn::ClipIn::kNone, 0, statistics.l2);
}

}  // namespace

PilotStatistics statistics_of(const charter::Model& model, std::shared_ptr<const data::Rows> rows,
                              int threads) {
  return statistics_of(charter::loss_of(model), model.l2, model.box, std::move(rows), threads);
}

PilotStatistics statistics_of(const learn::Losses& loss, double l2, double box,
                              std::shared_ptr<const data::Rows> rows, int threads) {
  PilotStatistics statistics{.rows = std::move(rows), .loss = loss, .l2 = l2, .box = box};
  if (std::holds_alternative<learn::Squared>(statistics.loss))
    optimum_of_squares(statistics, threads);
  else
    optimum_of_rows(statistics, threads);
  each_in_parallel(threads, 2, [&](size_t k) {
    if (k == 0) spread_from(statistics);
    if (k == 1) statistics.loss_deviation = loss_deviation(statistics);
  });
  return statistics;
}

double squares_at(const PilotStatistics& statistics, const OutputDistribution& distribution) {
  const size_t p = statistics.dimension();
  double spread = 0;
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j < p; ++j)
      spread += statistics.moments->product(i, j) * distribution.covariance[i * p + j];
  return statistics.moments->value(distribution.mean) + spread;
}

double fitness_at(const PilotStatistics& statistics, const OutputDistribution& distribution) {
  const size_t p = statistics.dimension();
  double squares = 0;
  for (size_t j = 0; j < p; ++j)
    squares += distribution.mean[j] * distribution.mean[j] + distribution.covariance[j * (p + 1)];
  return squares_at(statistics, distribution) + statistics.l2 / 2 * squares;
}

std::shared_ptr<const data::Rows> part_of(const data::Rows& rows, size_t group, size_t groups) {
  auto part = std::make_shared<data::Rows>(rows.columns());
  for (size_t i = group; i < rows.size(); i += groups) part->add(rows.row(i), rows.label(i));
  return part;
}

}  // namespace parley::forecast
