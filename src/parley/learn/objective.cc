#include "parley/learn/objective.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/learn/solver/products.h"

namespace parley::learn {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

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

std::vector<double> mean_gradient(const Losses& loss, const Rows& rows,
                                  std::span<const double> theta, ClipIn norm, double limit) {
  std::vector<double> mean(rows.columns());
  std::visit(
      [&](const auto& known) {
        for (size_t i = 0; i < rows.size(); ++i) {
          const auto z = rows.row(i);
          const double most = slope_limit(z, norm, limit);
          const double slope =
              std::clamp(known.slope(score_of(z, theta), rows.label(i)), -most, most);
          for (size_t j = 0; j < z.size(); ++j) mean[j] += z[j] == 0 ? 0 : slope * z[j];
        }
      },
      loss);
  for (double& value : mean) value /= static_cast<double>(rows.size());
  return mean;
}

std::vector<double> clipped_hessian(const Losses& loss, const Rows& rows,
                                    std::span<const double> theta, ClipIn norm, double limit,
                                    double l2) {
  const size_t p = rows.columns();
  std::vector<double> curvatures(rows.size());
  std::visit(
      [&](const auto& known) {
        for (size_t i = 0; i < rows.size(); ++i) {
          const auto z = rows.row(i);
          const double score = score_of(z, theta), label = rows.label(i);
          const bool clipped = std::fabs(known.slope(score, label)) > slope_limit(z, norm, limit);
          curvatures[i] = clipped ? 0 : known.curvature(score, label);
        }
      },
      loss);
  ProductSum products(p, rows.stride());
  products.add(rows.values(), curvatures.data(), rows.size());
  products.flush();
  std::vector<double> hessian(p * p);
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j < p; ++j)
      hessian[i * p + j] = products.at(i, j) / double(rows.size()) + (i == j ? l2 : 0);
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
