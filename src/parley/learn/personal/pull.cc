#include "parley/learn/personal/pull.h"

#include <algorithm>
#include <cmath>

#include "parley/base/math/eigen.h"

namespace parley::learn {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

double mean_diagonal(std::span<const double> matrix, size_t dimension) {
  double sum = 0;
  for (size_t j = 0; j < dimension; ++j) sum += matrix[j * dimension + j];
  return sum / static_cast<double>(dimension);
}

bool finite_and_symmetric(std::span<const double> matrix, size_t dimension) {
  double largest = 0;
  for (double value : matrix) {
    if (!std::isfinite(value)) return false;
    largest = std::max(largest, std::fabs(value));
  }
  for (size_t i = 0; i < dimension; ++i)
    for (size_t j = 0; j < i; ++j)
      if (std::fabs(matrix[i * dimension + j] - matrix[j * dimension + i]) > 1e-9 * largest)
        return false;
  return true;
}

bool positive_definite(const Matrix& matrix) {
  const Eigen::LLT<Matrix> factor(matrix);
  return factor.info() == Eigen::Success && factor.rcond() > 1e-13;
}

}  // namespace

std::vector<double> half_decades(int lowest, int highest) {
  check(lowest <= highest);
  std::vector<double> strengths;
  for (int k = highest; k >= lowest; --k) {
    double value = k % 2 == 0 ? 1 : k > 0 ? std::sqrt(10.0) : 1 / std::sqrt(10.0);
    for (int whole = 0; whole < std::abs(k) / 2; ++whole) value = k > 0 ? value * 10 : value / 10;
    strengths.push_back(value);
  }
  return strengths;
}

std::vector<double> identity_metric(size_t columns, std::optional<size_t> bias,
                                    double bias_weight) {
  std::vector<double> metric(columns * columns);
  for (size_t j = 0; j < columns; ++j) metric[j * columns + j] = j == bias ? bias_weight : 1;
  return metric;
}

Result<std::vector<double>> hessian_metric(std::span<const double> hessian, size_t columns) {
  check(hessian.size() == columns * columns);
  if (!finite_and_symmetric(hessian, columns))
    return Error{Code::kInvalid, "the pilot's Hessian is not a finite symmetric matrix"};
  const auto p = static_cast<Eigen::Index>(columns);
  Matrix matrix = Eigen::Map<const Matrix>(hessian.data(), p, p);
  matrix = (0.5 * (matrix + matrix.transpose())).eval();
  if (!positive_definite(matrix)) {
    matrix.diagonal().array() += 1e-9 * mean_diagonal(hessian, columns);
    if (!positive_definite(matrix))
      return Error{Code::kInvalid, "the pilot's Hessian has negative eigenvalues"};
  }
  return std::vector<double>(matrix.data(), matrix.data() + matrix.size());
}

std::vector<double> with_own_columns(std::span<const double> theta, size_t columns) {
  check(theta.size() <= columns);
  std::vector<double> result(theta.begin(), theta.end());
  result.resize(columns);
  return result;
}

std::vector<double> metric_with_own_columns(std::span<const double> metric, size_t charter_columns,
                                            size_t columns) {
  check(metric.size() == charter_columns * charter_columns && charter_columns <= columns);
  const double own = mean_diagonal(metric, charter_columns);
  std::vector<double> result(columns * columns);
  for (size_t i = 0; i < charter_columns; ++i)
    for (size_t j = 0; j < charter_columns; ++j)
      result[i * columns + j] = metric[i * charter_columns + j];
  for (size_t j = charter_columns; j < columns; ++j) result[j * columns + j] = own;
  return result;
}

}  // namespace parley::learn
