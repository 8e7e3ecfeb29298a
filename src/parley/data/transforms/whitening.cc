#include "parley/data/transforms/whitening.h"

#include <cmath>

#include "parley/data/transforms/principal.h"

namespace parley::data {
namespace {

constexpr double kTiny = 1e-9;  // A column that never varies must not divide by zero.

}  // namespace

Result<Whitening> Whitening::fit(std::span<const double> rows, size_t columns, size_t components) {
  const auto n = static_cast<double>(rows.size() / columns);
  check(n >= 2 && rows.size() % columns == 0 && components <= columns);
  Whitening fitted;
  fitted.mean_ = mean_of(rows, columns);
  Square a = scatter_of(rows, fitted.mean_);
  std::vector<double> deviation(columns);
  for (size_t i = 0; i < columns; ++i) deviation[i] = std::sqrt(a(i, i) / n) + kTiny;
  for (size_t i = 0; i < columns; ++i)
    for (size_t j = 0; j < columns; ++j) a(i, j) /= (n - 1) * deviation[i] * deviation[j];
  const PrincipalAxes axes = principal_axes(std::move(a));
  if (!(axes.values[components - 1] > kSmallestVariance)) return too_few_directions();
  for (size_t k = 0; k < components; ++k) {
    const double scale = 1 / std::sqrt(axes.values[k]);
    for (size_t i = 0; i < columns; ++i)
      fitted.matrix_.push_back(axes.vectors[k * columns + i] * scale / deviation[i]);
  }
  return fitted;
}

void Whitening::apply(std::span<const double> row, std::span<double> z) const {
  const size_t columns = mean_.size();
  check(row.size() == columns && z.size() * columns == matrix_.size());
  for (size_t k = 0; k < z.size(); ++k) {
    z[k] = 0;
    for (size_t i = 0; i < columns; ++i) z[k] += matrix_[k * columns + i] * (row[i] - mean_[i]);
  }
}

}  // namespace parley::data
