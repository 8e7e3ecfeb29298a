#include "parley/learn/pilot/loss_after.h"

#include <cmath>

#include "parley/base/math/eigen.h"
#include "parley/base/result.h"

namespace parley::learn {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix matrix_of(std::span<const double> values, size_t p) {
  check(values.size() == p * p);
  const auto n = static_cast<Eigen::Index>(p);
  return Eigen::Map<const Matrix>(values.data(), n, n);
}

/// L, without directions that M leaves out.
Matrix root_of(const Matrix& m) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(m);
  const double least = 1e-10 * solver.eigenvalues().maxCoeff();
  Matrix root(m.rows(), m.rows());
  Eigen::Index kept = 0;
  for (Eigen::Index j = 0; j < m.rows(); ++j)
    if (const double value = solver.eigenvalues()[j]; value > least && value > 0)
      root.col(kept++) = std::sqrt(value) * solver.eigenvectors().col(j);
  return root.leftCols(kept);
}

/// What a coordinate that starts at 1 and has noise of variance 1 in every gradient comes to.
struct Left {
  double start = 1, noise = 0;  // squared, and variance
};
Left left_of(const Schedule& schedule, double curvature) {
  double at = 1, average = 1;  // theta and the average of iterates, of the start
  double variance = 0, of_average = 0, both = 0;
  for (const Schedule::Round& round : schedule.rounds) {
    const double keep = 1 - round.step * curvature, q = round.average;
    at *= keep;
    variance = keep * keep * variance + round.step * round.step;
    both *= keep;  // of the new theta with the old average
    of_average = (1 - q) * (1 - q) * of_average + q * q * variance + 2 * q * (1 - q) * both;
    both = (1 - q) * both + q * variance;
    average = (1 - q) * average + q * at;
  }
  return {average * average, of_average};
}

}  // namespace

double loss_after(const Schedule& schedule, std::span<const double> hessian, double deviation,
                  double gap) {
  const size_t p = schedule.start.size();
  const Matrix root = root_of(matrix_of(schedule.preconditioner, p));
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(
      Matrix(root.transpose() * matrix_of(hessian, p) * root));
  const Matrix turned = root * solver.eigenvectors();
  const auto kept = static_cast<double>(root.cols()), all = static_cast<double>(p);
  double loss = gap * (all - kept) / all;
  for (Eigen::Index j = 0; j < root.cols(); ++j) {
    const double curvature = std::fmax(solver.eigenvalues()[j], 0);
    const double noise = deviation * deviation * turned.col(j).squaredNorm();
    const Left left = left_of(schedule, curvature);
    loss += gap / all * left.start + curvature / 2 * noise * left.noise;
  }
  return loss;
}

}  // namespace parley::learn
