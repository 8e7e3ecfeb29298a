#include "parley/sim/monte_carlo/pass/packed.h"

#include <algorithm>
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
PackedRows<Real>::PackedRows(const learn::Rows& rows, learn::ClipIn norm, double limit,
                             bool rows_too)
    : rows_(rows.size()),
      columns_(rows.columns()),
      values_(lines(chunks() * columns_ * kChunk)),
      labels_(lines(chunks() * kChunk)),
      limits_(lines(chunks() * kChunk)),
      by_row_(lines(rows_too ? chunks() * kChunk * stride() : 0)) {
  constexpr auto kNone = std::numeric_limits<Real>::infinity();
  for (size_t i = 0; i < rows_; ++i) {
    const std::span<const double> z = rows.row(i);
    Real* values = at(values_, i / kChunk * columns_ * kChunk + i % kChunk);
    for (size_t j = 0; j < columns_; ++j) values[j * kChunk] = static_cast<Real>(z[j]);
    if (rows_too) std::copy(z.begin(), z.end(), at(by_row_, i * stride()));
    *at(labels_, i) = static_cast<Real>(rows.label(i));
    const double length = norm == learn::ClipIn::kNone ? 0 : norm_of(z, norm);
    *at(limits_, i) = length > 0 ? static_cast<Real>(limit / length) : kNone;
  }
}

template class PackedRows<float>;
template class PackedRows<double>;

Packed pack(const learn::Rows& rows, learn::ClipIn norm, double limit, Precision precision,
            bool rows_too) {
  if (precision == Precision::kDouble) return PackedRows<double>(rows, norm, limit, rows_too);
  return PackedRows<float>(rows, norm, limit, rows_too);
}

}  // namespace parley::sim::monte_carlo
