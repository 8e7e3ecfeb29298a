#include "parley/learn/objective.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "parley/base/math/portable.h"
#include "parley/base/result.h"
#include "parley/learn/solver/products.h"
#include "parley/learn/solver/symmetric.h"

namespace parley::learn {
namespace {

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

/// (1/n) sum of curvature_i z_i z_i' + l2.
std::vector<double> hessian_of(const data::Rows& rows, std::span<const double> curvatures,
                               double l2) {
  const size_t p = rows.columns();
  ProductSum products(p, rows.stride());
  products.add(rows.values(), curvatures.data(), rows.size());
  products.flush();
  std::vector<double> hessian(p * p);
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j < p; ++j)
      hessian[i * p + j] = products.at(i, j) / double(rows.size()) + (i == j ? l2 : 0);
  return hessian;
}

/// The largest sum of the sizes in a row: the norm in which a condition number is measured.
double largest_sum(std::span<const double> matrix, size_t p) {
  double largest = 0;
  for (size_t i = 0; i < p; ++i) {
    double sum = 0;
    for (double value : matrix.subspan(i * p, p)) sum += std::fabs(value);
    largest = std::fmax(largest, sum);
  }
  return largest;
}

/// The width of a normal kernel for a density, by Silverman's rule.
double kernel_width(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (double value : values) mean += value / n;
  for (double value : values) squares += (value - mean) * (value - mean) / n;
  return 1.06 * std::sqrt(squares) * portable_exp(-0.2 * portable_log(n));
}

/// Curvatures of hinge records, clipped like their slopes: the kink at margin 1, spread by the
/// kernel.
std::vector<double> kink_curvatures(const Hinge& hinge, const data::Rows& rows,
                                    std::span<const double> theta, ClipIn norm, double limit) {
  std::vector<double> margins;
  for (size_t i = 0; i < rows.size(); ++i)
    margins.push_back(rows.label(i) * score_of(rows.row(i), theta));
  const double width = kernel_width(margins);
  std::vector<double> curvatures;
  for (size_t i = 0; i < rows.size(); ++i) {
    const double jump =
        std::min(hinge.weights.of(rows.label(i)), slope_limit(rows.row(i), norm, limit));
    const double t = std::clamp((1 - margins[i]) / width, -30.0, 30.0);
    const double density = portable_exp(-t * t / 2) / (width * std::sqrt(2 * std::numbers::pi));
    curvatures.push_back(width > 0 ? jump * density : 0);
  }
  return curvatures;
}

}  // namespace

void each_gradient(const Losses& loss, const data::Rows& rows, std::span<const double> theta,
                   ClipIn norm, double limit,
                   const std::function<void(std::span<const double>, double)>& use) {
  std::visit(
      [&](const auto& known) {
        for (size_t i = 0; i < rows.size(); ++i) {
          const auto z = rows.row(i);
          const double most = slope_limit(z, norm, limit);
          use(z, std::clamp(known.slope(score_of(z, theta), rows.label(i)), -most, most));
        }
      },
      loss);
}

std::vector<double> mean_gradient(const Losses& loss, const data::Rows& rows,
                                  std::span<const double> theta, ClipIn norm, double limit) {
  std::vector<double> mean(rows.columns());
  each_gradient(loss, rows, theta, norm, limit, [&](std::span<const double> z, double slope) {
    for (size_t j = 0; j < z.size(); ++j) mean[j] += z[j] == 0 ? 0 : slope * z[j];
  });
  for (double& value : mean) value /= static_cast<double>(rows.size());
  return mean;
}

std::vector<double> clipped_hessian(const Losses& loss, const data::Rows& rows,
                                    std::span<const double> theta, ClipIn norm, double limit,
                                    double l2) {
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
  return hessian_of(rows, curvatures, l2);
}

std::vector<double> smoothed_hessian(const Losses& loss, const data::Rows& rows,
                                     std::span<const double> theta, ClipIn norm, double limit,
                                     double l2) {
  const Hinge* hinge = std::get_if<Hinge>(&loss);
  if (hinge == nullptr) return clipped_hessian(loss, rows, theta, norm, limit, l2);
  return hessian_of(rows, kink_curvatures(*hinge, rows, theta, norm, limit), l2);
}

std::optional<std::vector<double>> inverse(std::span<const double> matrix, size_t dimension) {
  const auto factor = Cholesky::of(matrix, dimension);
  if (!factor) return std::nullopt;
  std::vector<double> found = factor->inverse();
  const double condition = largest_sum(matrix, dimension) * largest_sum(found, dimension);
  if (!(condition < 1e12)) return std::nullopt;
  return found;
}

std::vector<double> floored_inverse(std::span<const double> matrix, size_t dimension,
                                    double floor) {
  check(floor > 0);
  Spectrum found = spectrum(matrix, dimension);
  for (double& value : found.values) value = 1 / std::max(value, floor);
  return sum_of_squares(found.values, found.vectors);
}

double largest_eigenvalue(std::span<const double> matrix, size_t dimension) {
  std::vector<double> v(dimension);
  for (size_t j = 0; j < dimension; ++j)
    v[j] = 1 + static_cast<double>(j % 7) / 10;  // along no axis
  double value = 0;
  for (int k = 0; k < 100; ++k) {
    v = times(matrix, v);
    value = length_of(v);
    if (!(value > 0)) return 0;
    for (double& x : v) x /= value;
  }
  return value;
}

}  // namespace parley::learn
