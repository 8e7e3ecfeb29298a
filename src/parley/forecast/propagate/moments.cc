#include "parley/forecast/propagate/moments.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "parley/base/math/eigen.h"
#include "parley/base/result.h"

namespace parley::forecast {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

Matrix matrix(std::span<const double> values, size_t p) {
  const auto n = static_cast<Eigen::Index>(p);
  return Eigen::Map<const Matrix>(values.data(), n, n);
}

std::vector<double> values(const Matrix& m) { return {m.data(), m.data() + m.size()}; }

/// How the output depends on the start and on each round's noise, along one direction.
struct ExactResponse {
  double start = 0;
  Vector noise{};
};

ExactResponse respond(const learn::Schedule& schedule, double curvature,
                      std::span<const double> variance_factor) {
  ExactResponse response;
  response.noise.resize(static_cast<Eigen::Index>(schedule.rounds.size()));
  double to_theta = 0, to_velocity = 0, to_average = 1;
  for (size_t k = schedule.rounds.size(); k-- > 0;) {
    const learn::Schedule::Round round = schedule.rounds[k];
    to_theta += round.average * to_average;
    to_average *= 1 - round.average;
    to_velocity -= round.step * to_theta;
    response.noise[static_cast<Eigen::Index>(k)] =
        to_velocity *
        (variance_factor.empty() ? 1 : std::sqrt(variance_factor[k]));  // It enters the velocity.
    to_theta += curvature * to_velocity;
    to_velocity *= schedule.momentum;
  }
  response.start = to_theta + to_average;
  return response;
}

/// The square root of the preconditioner: theta = root x makes it the identity.
Matrix root_of(std::span<const double> preconditioner, size_t p) {
  const auto n = static_cast<Eigen::Index>(p);
  if (preconditioner.empty()) return Matrix::Identity(n, n);
  return Eigen::SelfAdjointEigenSolver<Matrix>(matrix(preconditioner, p)).operatorSqrt();
}

}  // namespace

ExactMoments exact_moments(const Quadratic& quadratic, const learn::Schedule& schedule,
                           std::span<const double> variance_factor) {
  const size_t p = quadratic.start.size();
  check(quadratic.hessian.size() == p * p);
  const Matrix root = root_of(schedule.preconditioner, p);
  const Matrix hessian = matrix(quadratic.hessian, p);
  const Eigen::SelfAdjointEigenSolver<Matrix> seen(product(product(root, hessian), root));
  const Matrix to_theta = product(root, seen.eigenvectors());  // theta = to_theta x, round by round
  const Matrix noise = product(to_theta.transpose(), to_theta);
  const auto n = static_cast<Eigen::Index>(p);
  Vector start(n);
  Matrix noises(n, static_cast<Eigen::Index>(schedule.rounds.size()));
  for (Eigen::Index j = 0; j < n; ++j) {
    const ExactResponse response = respond(schedule, seen.eigenvalues()[j], variance_factor);
    start[j] = response.start;
    noises.row(j) = response.noise;
  }
  // x = (eigenvectors' root^-1) theta; the start's part of the output is to_theta diag(start) x.
  const Matrix from_theta = product(seen.eigenvectors().transpose(), inverse(root));
  const Matrix of_start = product(to_theta * start.asDiagonal(), from_theta);
  const Matrix noise_of_x = product(noises, noises.transpose()).cwiseProduct(noise);
  const Matrix noise_part = product(product(to_theta, noise_of_x), to_theta.transpose());
  const Vector mean = of_start * Eigen::Map<const Vector>(quadratic.start.data(), n);
  ExactMoments moments{.mean = {mean.begin(), mean.end()},
                       .start_part = std::vector<double>(p * p),
                       .noise_part = values(noise_part)};
  if (!quadratic.start_spread.empty())
    moments.start_part =
        values(product(product(of_start, matrix(quadratic.start_spread, p)), of_start.transpose()));
  moments.optimisation = quadratic_cost(quadratic.hessian, moments.mean, moments.start_part);
  moments.noise_gain = quadratic_cost(quadratic.hessian, {}, moments.noise_part);
  return moments;
}

ExactCosts::ExactCosts(const Quadratic& quadratic, std::span<const double> preconditioner) {
  const size_t p = quadratic.start.size();
  const Matrix root = root_of(preconditioner, p);
  const Eigen::SelfAdjointEigenSolver<Matrix> seen(
      product(product(root, matrix(quadratic.hessian, p)), root));
  const Matrix to_theta = product(root, seen.eigenvectors());
  const Matrix from_theta = product(seen.eigenvectors().transpose(), inverse(root));
  const Vector start =
      from_theta * Eigen::Map<const Vector>(quadratic.start.data(), static_cast<Eigen::Index>(p));
  Vector squares = start.cwiseProduct(start);
  if (!quadratic.start_spread.empty())
    squares +=
        product(product(from_theta, matrix(quadratic.start_spread, p)), from_theta.transpose())
            .diagonal();
  const Vector noise = to_theta.colwise().squaredNorm().transpose();
  for (Eigen::Index j = 0; j < start.size(); ++j)
    directions_.push_back({seen.eigenvalues()[j], squares[j], noise[j]});
}

ExactCosts::Costs ExactCosts::of(const learn::Schedule& schedule,
                                 std::span<const double> variance_factor) const {
  Costs costs;
  for (const Direction& direction : directions_) {
    const ExactResponse response = respond(schedule, direction.curvature, variance_factor);
    const double half = direction.curvature / 2;
    costs.optimisation += half * response.start * response.start * direction.start;
    costs.noise_gain += half * response.noise.squaredNorm() * direction.noise;
  }
  return costs;
}

double quadratic_cost(std::span<const double> hessian, std::span<const double> mean,
                      std::span<const double> covariance) {
  const size_t p = mean.size();
  double cost = 0;
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j < p; ++j) cost += hessian[i * p + j] * mean[i] * mean[j];
  for (size_t k = 0; k < covariance.size(); ++k) cost += hessian[k] * covariance[k];
  return cost / 2;
}

namespace {

/// Excess above the floor is c variance^power between two points.
struct Power {
  double exponent = 1, at = 1, value = 0;
  double operator()(double x) const { return value * std::pow(x / at, exponent); }
  double inverse(double y) const { return at * std::pow(y / value, 1 / exponent); }
};

}  // namespace

Response::Response(std::vector<std::pair<double, double>> points) : points_(std::move(points)) {
  check(points_.size() >= 2 && points_.front().first == 0);
  for (size_t k = 1; k < points_.size(); ++k) {  // More noise is never taken to help.
    check(points_[k].first > points_[k - 1].first);
    const double least = points_[k - 1].second;
    points_[k].second = std::max(points_[k].second, least + 1e-12 * std::fabs(least) + 1e-300);
  }
}

Response Response::line(double floor, double gain) {
  return Response({{0, floor}, {1, floor + gain}});
}

Response Response::table(std::vector<std::pair<double, double>> points) {
  return Response(std::move(points));
}

namespace {

/// The power law that holds at `x`, or, with `by_value`, where the excess above the floor is `x`.
Power piece(const std::vector<std::pair<double, double>>& points, double x, bool by_value) {
  const double floor = points.front().second;
  const auto value = [&](size_t k) { return points[k].second - floor; };
  size_t k = 1;
  while (k + 1 < points.size() && (by_value ? value(k) : points[k].first) < x) ++k;
  if (k == 1) return {1, points[1].first, value(1)};
  const double exponent =
      std::log(value(k) / value(k - 1)) / std::log(points[k].first / points[k - 1].first);
  return {std::max(exponent, 1e-3), points[k].first, value(k)};
}

}  // namespace

double Response::at(double variance) const {
  return floor() + piece(points_, variance, false)(variance);
}

double Response::gain(double variance) const {
  const Power power = piece(points_, variance, false);
  if (power.exponent == 1) return power.value / power.at;
  return power.exponent * power(variance) / variance;
}

double Response::variance_for(double excess) const {
  const double above = excess - floor();
  return above <= 0 ? 0 : piece(points_, above, true).inverse(above);
}

Response Response::scaled(double factor) const {
  auto points = points_;
  for (auto& [variance, excess] : points) excess *= factor;
  return Response(std::move(points));
}

namespace {

struct Solution {
  Eigen::Vector3d coefficients = Eigen::Vector3d::Zero();
  double error = std::numeric_limits<double>::infinity();
};

/// Least squares of the columns in `used` against ones; others stay zero.
Solution solve(const Eigen::MatrixXd& columns, int used) {
  std::vector<int> at;
  for (int j = 0; j < 3; ++j)
    if (used >> j & 1) at.push_back(j);
  Eigen::MatrixXd chosen(columns.rows(), static_cast<Eigen::Index>(at.size()));
  for (size_t k = 0; k < at.size(); ++k)
    chosen.col(static_cast<Eigen::Index>(k)) = columns.col(at[k]);
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(columns.rows());
  const Eigen::VectorXd x = least_squares(chosen, ones);
  Solution found;
  if ((x.array() < 0).any()) return found;
  for (size_t k = 0; k < at.size(); ++k)
    found.coefficients[at[k]] = x[static_cast<Eigen::Index>(k)];
  found.error = (chosen * x - ones).squaredNorm();
  return found;
}

}  // namespace

double BoundFit::at(double s) const { return floor + root * std::sqrt(s) + line * s; }

/// With three coefficients the best non-negative ones are found by trying which of them are zero.
BoundFit fit_bound(std::span<const std::pair<double, double>> points, BoundForm form) {
  Eigen::MatrixXd columns(static_cast<Eigen::Index>(points.size()), 3);
  for (size_t k = 0; k < points.size(); ++k) {
    const auto [s, psi] = points[k];
    columns.row(static_cast<Eigen::Index>(k)) << 1 / psi, std::sqrt(s) / psi, s / psi;
  }
  const int allowed = form == BoundForm::kSmooth ? 0b101 : form == BoundForm::kGeneral ? 0b011 : 7;
  Solution best;
  for (int used = 1; used < 8; ++used)
    if ((used & ~allowed) == 0)
      if (const Solution found = solve(columns, used); found.error < best.error) best = found;
  return {best.coefficients[0], best.coefficients[1], best.coefficients[2]};
}

}  // namespace parley::forecast
