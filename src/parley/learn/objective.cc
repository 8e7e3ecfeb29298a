#include "parley/learn/objective.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "parley/base/result.h"

namespace parley::learn {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

double score_of(std::span<const double> z, std::span<const double> theta) {
  double score = 0;
  for (size_t j = 0; j < z.size(); ++j) score += z[j] * theta[j];
  return score;
}

double norm_of(std::span<const double> z, ClipIn norm) {
  double sum = 0;
  for (double value : z) sum += norm == ClipIn::kL1 ? std::fabs(value) : value * value;
  return norm == ClipIn::kL1 ? sum : std::sqrt(sum);
}

/// The largest slope a record may have; infinite without a clip or for a zero record.
double slope_limit(std::span<const double> z, ClipIn norm, double limit) {
  if (norm == ClipIn::kNone) return std::numeric_limits<double>::infinity();
  return limit / norm_of(z, norm);
}

}  // namespace

void SquaredFitness::add(const Rows& rows) {
  check(rows.columns() == columns_);
  std::vector<double> block(size_of());  // Sums of blocks lose fewer digits than one long sum.
  std::vector<double> record(width());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto z = rows.row(i);
    std::copy(z.begin(), z.end(), record.begin());
    record[columns_] = rows.label(i);
    for (size_t a = 0; a < width(); ++a)
      for (size_t b = 0; b < width(); ++b) block[a * width() + b] += record[a] * record[b];
    if (i % 1024 == 1023 || i + 1 == rows.size()) {
      for (size_t k = 0; k < block.size(); ++k) moments_[k] += std::exchange(block[k], 0.0);
    }
  }
  rows_ += rows.size();
}

double SquaredFitness::at(std::span<const double> theta) const {
  check(theta.size() == columns_ && rows_ > 0);
  double value = moment(columns_, columns_);
  for (size_t i = 0; i < columns_; ++i) {
    double row = -2 * moment(i, columns_) + l2_ / 2 * theta[i];
    for (size_t j = 0; j < columns_; ++j) row += moment(i, j) * theta[j];
    value += theta[i] * row;
  }
  return value;
}

std::vector<double> SquaredFitness::gradient(std::span<const double> theta) const {
  std::vector<double> result(columns_);
  for (size_t i = 0; i < columns_; ++i) {
    double row = -moment(i, columns_);
    for (size_t j = 0; j < columns_; ++j) row += moment(i, j) * theta[j];
    result[i] = 2 * row + l2_ * theta[i];
  }
  return result;
}

double SquaredFitness::certified_gap(std::span<const double> theta, double box) const {
  // f(x) >= f(theta) + g.(x - theta) for all x, so f(theta) - f* <= max over the box of g.(theta -
  // x).
  const std::vector<double> slope = gradient(theta);
  double gap = 0;
  for (size_t j = 0; j < columns_; ++j) gap += slope[j] * theta[j] + std::fabs(slope[j]) * box;
  const double fitness = at(theta);
  return fitness > 0 ? std::max(gap, 0.0) / fitness : std::max(gap, 0.0);
}

Optimum SquaredFitness::minimum(double box) const {
  const auto p = static_cast<Eigen::Index>(columns_);
  Matrix hessian(p, p);
  Vector slope(p);
  for (Eigen::Index i = 0; i < p; ++i) {
    for (Eigen::Index j = 0; j < p; ++j) hessian(i, j) = 2 * moment(i, j) + (i == j ? l2_ : 0);
    slope(i) = 2 * moment(i, columns_);
  }
  const Eigen::LDLT<Matrix> factor(hessian);
  Vector theta = factor.solve(slope);
  std::string solver = "cholesky";
  if (!theta.allFinite() || theta.cwiseAbs().maxCoeff() > box ||
      (hessian * theta - slope).norm() > 1e-9 * (1 + slope.norm())) {
    solver = "coordinate descent";
    theta = theta.allFinite() ? Vector(theta.cwiseMax(-box).cwiseMin(box)) : Vector::Zero(p);
    for (int pass = 0; pass < 100000; ++pass) {
      double moved = 0;
      for (Eigen::Index j = 0; j < p; ++j) {
        if (hessian(j, j) <= 0) continue;  // A column of zeros: any value is optimal.
        const double before = theta(j);
        const double step = (hessian.row(j).dot(theta) - slope(j)) / hessian(j, j);
        theta(j) = std::clamp(before - step, -box, box);
        moved = std::max(moved, std::fabs(theta(j) - before));
      }
      if (moved <= 1e-15 * box) break;
    }
  }
  Optimum optimum{.theta = {theta.begin(), theta.end()}, .solver = solver};
  optimum.fitness = at(optimum.theta);
  optimum.relative_gap = certified_gap(optimum.theta, box);
  return optimum;
}

std::vector<double> mean_gradient(const Rows& rows, std::span<const double> theta, ClipIn norm,
                                  double limit) {
  std::vector<double> mean(rows.columns());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto z = rows.row(i);
    const double most = slope_limit(z, norm, limit);
    const double slope =
        std::clamp(Squared{}.slope(score_of(z, theta), rows.label(i)), -most, most);
    for (size_t j = 0; j < z.size(); ++j) mean[j] += z[j] == 0 ? 0 : slope * z[j];
  }
  for (double& value : mean) value /= static_cast<double>(rows.size());
  return mean;
}

std::vector<double> clipped_hessian(const Rows& rows, std::span<const double> theta, ClipIn norm,
                                    double limit, double l2) {
  const size_t p = rows.columns();
  std::vector<double> hessian(p * p);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto z = rows.row(i);
    const double score = score_of(z, theta), label = rows.label(i);
    if (std::fabs(Squared{}.slope(score, label)) > slope_limit(z, norm, limit)) continue;
    const double curvature = Squared{}.curvature(score, label);
    for (size_t a = 0; a < p; ++a)
      for (size_t b = 0; b < p; ++b) hessian[a * p + b] += curvature * z[a] * z[b];
  }
  for (double& value : hessian) value /= static_cast<double>(rows.size());
  for (size_t j = 0; j < p; ++j) hessian[j * p + j] += l2;
  return hessian;
}

std::optional<std::vector<double>> inverse(std::span<const double> matrix, size_t dimension) {
  const auto p = static_cast<Eigen::Index>(dimension);
  const Eigen::LLT<Matrix> factor(Eigen::Map<const Matrix>(matrix.data(), p, p));
  if (factor.info() != Eigen::Success || !(factor.rcond() > 1e-12)) return std::nullopt;
  const Matrix result = factor.solve(Matrix::Identity(p, p));
  return std::vector<double>(result.data(), result.data() + result.size());
}

}  // namespace parley::learn
