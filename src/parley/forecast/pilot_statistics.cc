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
Matrix gradient_squares(const PilotStatistics& facts) {
  const size_t p = facts.dimension();
  std::vector<double> squares;
  learn::each_gradient(
      facts.loss, *facts.rows, facts.optimum.theta, learn::ClipIn::kNone, 0,
      [&](std::span<const double>, double slope) { squares.push_back(slope * slope); });
  learn::ProductSum sum(p, facts.rows->stride());
  sum.add(facts.rows->values(), squares.data(), facts.rows->size());
  sum.flush();
  const auto n = static_cast<Eigen::Index>(p);
  Matrix result(n, n);
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j < p; ++j)
      result(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
          sum.at(i, j) / facts.count();
  const auto mean = facts.moments
                        ? facts.moments->gradient(facts.optimum.theta)
                        : learn::mean_gradient(facts.loss, *facts.rows, facts.optimum.theta,
                                               learn::ClipIn::kNone, 0);
  const Eigen::Map<const Eigen::VectorXd> m(mean.data(), n);
  return result - m * m.transpose();
}

/// Directions that the rows do not bend are left out: no model differs along them.
void spread_from(PilotStatistics& facts) {
  const size_t p = facts.dimension();
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(matrix(facts.hessian, p));
  facts.smallest_curvature = solver.eigenvalues().minCoeff();
  facts.largest_curvature = solver.eigenvalues().maxCoeff();
  Eigen::VectorXd inverse = solver.eigenvalues();
  for (double& h : inverse) h = h > 1e-10 * facts.largest_curvature ? 1 / h : 0;
  const Matrix inverted =
      solver.eigenvectors() * inverse.asDiagonal() * solver.eigenvectors().transpose();
  const Matrix gradients = gradient_squares(facts);
  const Matrix spread = inverted * gradients * inverted;
  facts.spread.assign(spread.data(), spread.data() + spread.size());
  facts.sampling = inverted.cwiseProduct(gradients).sum() / 2;
}

double loss_deviation(const PilotStatistics& facts) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < facts.rows->size(); ++i) {
    const auto z = facts.rows->row(i);
    double score = 0;
    for (size_t j = 0; j < z.size(); ++j) score += z[j] * facts.optimum.theta[j];
    const double value = std::visit(
        [&](const auto& loss) { return loss.value(score, facts.rows->label(i)); }, facts.loss);
    sum += value, squares += value * value;
  }
  const double n = facts.count();
  return std::sqrt(std::fmax(squares / n - sum / n * (sum / n), 0));
}

/// Squares need no second pass over the rows for these.
void optimum_of_squares(PilotStatistics& facts, int threads) {
  const size_t p = facts.rows->columns();
  auto moments = std::make_shared<learn::Moments>(p);
  moments->add(*facts.rows, threads);
  facts.optimum = learn::squared_optimum(*moments, facts.l2, facts.box);
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j < p; ++j)
      facts.hessian.push_back(2 * moments->product(i, j) + (i == j ? facts.l2 : 0));
  facts.moments = std::move(moments);
}

void optimum_of_rows(PilotStatistics& facts, int threads) {
  learn::Fitness fitness(facts.loss, facts.rows->columns(), facts.l2, threads);
  fitness.add(*facts.rows);
  facts.optimum = fitness.minimum(facts.box);
  facts.hessian = learn::smoothed_hessian(facts.loss, *facts.rows, facts.optimum.theta,
                                          learn::ClipIn::kNone, 0, facts.l2);
}

}  // namespace

PilotStatistics facts_of(const charter::Model& model, std::shared_ptr<const data::Rows> rows,
                         int threads) {
  PilotStatistics facts{
      .rows = std::move(rows), .loss = charter::loss_of(model), .l2 = model.l2, .box = model.box};
  if (std::holds_alternative<learn::Squared>(facts.loss))
    optimum_of_squares(facts, threads);
  else
    optimum_of_rows(facts, threads);
  each_in_parallel(threads, 2, [&](size_t k) {
    if (k == 0) spread_from(facts);
    if (k == 1) facts.loss_deviation = loss_deviation(facts);
  });
  return facts;
}

double squares_at(const PilotStatistics& facts, const OutputDistribution& distribution) {
  const size_t p = facts.dimension();
  double spread = 0;
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j < p; ++j)
      spread += facts.moments->product(i, j) * distribution.covariance[i * p + j];
  return facts.moments->value(distribution.mean) + spread;
}

double fitness_at(const PilotStatistics& facts, const OutputDistribution& distribution) {
  const size_t p = facts.dimension();
  double squares = 0;
  for (size_t j = 0; j < p; ++j)
    squares += distribution.mean[j] * distribution.mean[j] + distribution.covariance[j * (p + 1)];
  return squares_at(facts, distribution) + facts.l2 / 2 * squares;
}

std::shared_ptr<const data::Rows> part_of(const data::Rows& rows, size_t group, size_t groups) {
  auto part = std::make_shared<data::Rows>(rows.columns());
  for (size_t i = group; i < rows.size(); i += groups) part->add(rows.row(i), rows.label(i));
  return part;
}

}  // namespace parley::forecast
