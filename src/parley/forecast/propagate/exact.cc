#include "parley/forecast/propagate/exact.h"

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <cmath>

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
  const Eigen::SelfAdjointEigenSolver<Matrix> seen(root * hessian * root);
  const Matrix to_theta = root * seen.eigenvectors();  // theta = to_theta x, round by round
  const Matrix noise = to_theta.transpose() * to_theta;
  const auto n = static_cast<Eigen::Index>(p);
  Vector start(n);
  Matrix noises(n, static_cast<Eigen::Index>(schedule.rounds.size()));
  for (Eigen::Index j = 0; j < n; ++j) {
    const ExactResponse response = respond(schedule, seen.eigenvalues()[j], variance_factor);
    start[j] = response.start;
    noises.row(j) = response.noise;
  }
  // x = (eigenvectors' root^-1) theta; the start's part of the output is to_theta diag(start) x.
  const Matrix from_theta = seen.eigenvectors().transpose() * root.inverse();
  const Matrix of_start = to_theta * start.asDiagonal() * from_theta;
  const Matrix noise_part =
      to_theta * (noises * noises.transpose()).cwiseProduct(noise) * to_theta.transpose();
  const Vector mean = of_start * Eigen::Map<const Vector>(quadratic.start.data(), n);
  ExactMoments moments{.mean = {mean.begin(), mean.end()},
                       .start_part = std::vector<double>(p * p),
                       .noise_part = values(noise_part)};
  if (!quadratic.start_spread.empty())
    moments.start_part =
        values(of_start * matrix(quadratic.start_spread, p) * of_start.transpose());
  moments.optimisation = quadratic_cost(quadratic.hessian, moments.mean, moments.start_part);
  moments.noise_gain = quadratic_cost(quadratic.hessian, {}, moments.noise_part);
  return moments;
}

ExactCosts::ExactCosts(const Quadratic& quadratic, std::span<const double> preconditioner) {
  const size_t p = quadratic.start.size();
  const Matrix root = root_of(preconditioner, p);
  const Eigen::SelfAdjointEigenSolver<Matrix> seen(root * matrix(quadratic.hessian, p) * root);
  const Matrix to_theta = root * seen.eigenvectors();
  const Matrix from_theta = seen.eigenvectors().transpose() * root.inverse();
  const Vector start =
      from_theta * Eigen::Map<const Vector>(quadratic.start.data(), static_cast<Eigen::Index>(p));
  Vector squares = start.cwiseProduct(start);
  if (!quadratic.start_spread.empty())
    squares += (from_theta * matrix(quadratic.start_spread, p) * from_theta.transpose()).diagonal();
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

}  // namespace parley::forecast
