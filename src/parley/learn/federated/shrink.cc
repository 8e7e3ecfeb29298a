#include "parley/learn/federated/shrink.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "parley/base/result.h"

namespace parley::learn {

/// The factor is taken smaller by more than what its own, the norm's and the products' roundings
/// can add up to for 4096 columns (lattice.h counts them).
double shrink_factor(std::span<const double> values, double max_norm) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  const double norm = std::sqrt(squares);
  return norm > max_norm * (1 - 0x1p-40) ? max_norm * (1 - 0x1p-40) / norm : 1.0;
}

namespace {

std::vector<double> scaled(std::span<const double> values, double max_norm) {
  std::vector<double> out(values.begin(), values.end());
  const double by = shrink_factor(values, max_norm);
  for (double& value : out) value *= by;
  return out;
}

std::shared_ptr<const data::Rows> shrink(const data::Rows& rows, double max_norm) {
  auto out = std::make_shared<data::Rows>(rows.columns());
  out->reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) out->add(scaled(rows.row(i), max_norm), rows.label(i));
  return out;
}

std::shared_ptr<const data::SparseRows> shrink(const data::SparseRows& rows, double max_norm) {
  auto out = std::make_shared<data::SparseRows>(rows.columns());
  for (size_t i = 0; i < rows.size(); ++i)
    out->add(rows.row_indices(i), scaled(rows.row_values(i), max_norm), rows.label(i));
  return out;
}

}  // namespace

data::AnyRows shrunk(const data::AnyRows& rows, double max_norm) {
  check(max_norm > 0);
  return std::visit([&](const auto& kind) { return data::AnyRows(shrink(*kind, max_norm)); }, rows);
}

}  // namespace parley::learn
