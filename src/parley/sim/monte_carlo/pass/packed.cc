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
PackedRows<Real>::PackedRows(const learn::Losses& loss, const data::Rows& rows, learn::ClipIn norm,
                             double limit)
    : hinge_(std::holds_alternative<learn::Hinge>(loss)),
      rows_(rows.size()),
      columns_(rows.columns()),
      values_(chunks() * columns_ * kChunk),
      labels_(chunks() * kChunk),
      limits_(chunks() * kChunk) {
  for (size_t i = 0; i < rows_; ++i) {
    const double length = norm == learn::ClipIn::kNone ? 0 : norm_of(rows.row(i), norm);
    const double most = length > 0 ? limit / length : std::numeric_limits<double>::infinity();
    if (const auto* hinge = std::get_if<learn::Hinge>(&loss))
      put_steps(i, rows.row(i), rows.label(i), hinge->weights.of(rows.label(i)), most);
    else
      put(i, rows.row(i), 1, rows.label(i), most);
  }
}

template <class Real>
void PackedRows<Real>::put(size_t i, std::span<const double> z, double factor, double label,
                           double limit) {
  Real* values = &values_[i / kChunk * columns_ * kChunk + i % kChunk];
  for (size_t j = 0; j < columns_; ++j) values[j * kChunk] = static_cast<Real>(factor * z[j]);
  labels_[i] = static_cast<Real>(label);
  limits_[i] = static_cast<Real>(limit);
}

template <class Real>
void PackedRows<Real>::put_steps(size_t i, std::span<const double> z, double label, double weight,
                                 double most) {
  const double slope = std::min(weight, most);
  put(i, z, -label * slope, -slope, slope > 0 ? weight / slope : 0);
}

template class PackedRows<float>;
template class PackedRows<double>;

Packed pack(const learn::Losses& loss, const data::Rows& rows, learn::ClipIn norm, double limit,
            Precision precision) {
  if (precision == Precision::kDouble) return PackedRows<double>(loss, rows, norm, limit);
  return PackedRows<float>(loss, rows, norm, limit);
}

}  // namespace parley::sim::monte_carlo
