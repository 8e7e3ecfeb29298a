#include "parley/sim/monte_carlo/pass/packed.h"

#include <cmath>
#include <limits>

namespace parley::sim::monte_carlo {
namespace {

static_assert(kChunk * sizeof(float) % kVectorBytes == 0);

double norm_of(std::span<const double> z, learn::ClipIn norm) {
  double sum = 0;
  for (double value : z) sum += norm == learn::ClipIn::kL1 ? std::fabs(value) : value * value;
  return norm == learn::ClipIn::kL1 ? sum : std::sqrt(sum);
}

}  // namespace

template <class Real>
PackedRows<Real>::PackedRows(const learn::Rows& rows, learn::ClipIn norm, double limit)
    : rows_(rows.size()),
      columns_(rows.columns()),
      values_(chunks() * columns_ * kChunk),
      labels_(chunks() * kChunk),
      limits_(chunks() * kChunk) {
  constexpr auto kNone = std::numeric_limits<Real>::infinity();
  for (size_t i = 0; i < rows_; ++i) {
    const std::span<const double> z = rows.row(i);
    Real* values = &values_[i / kChunk * columns_ * kChunk + i % kChunk];
    for (size_t j = 0; j < columns_; ++j) values[j * kChunk] = static_cast<Real>(z[j]);
    labels_[i] = static_cast<Real>(rows.label(i));
    const double length = norm == learn::ClipIn::kNone ? 0 : norm_of(z, norm);
    limits_[i] = length > 0 ? static_cast<Real>(limit / length) : kNone;
  }
}

template class PackedRows<float>;
template class PackedRows<double>;

Packed pack(const learn::Rows& rows, learn::ClipIn norm, double limit, Precision precision) {
  if (precision == Precision::kDouble) return PackedRows<double>(rows, norm, limit);
  return PackedRows<float>(rows, norm, limit);
}

}  // namespace parley::sim::monte_carlo
