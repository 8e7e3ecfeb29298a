#include "parley/learn/vertical/integer_rows.h"

#include <algorithm>
#include <cmath>

#include "parley/base/result.h"

namespace parley::learn {
namespace {

/// One record's entries that are not zero, however it is stored.
struct Entries {
  std::vector<uint32_t> at;
  std::vector<double> values;
};

Entries entries_of(const data::Rows& rows, size_t i) {
  Entries entries;
  const auto row = rows.row(i);
  for (size_t j = 0; j < row.size(); ++j)
    if (row[j] != 0)
      entries.at.push_back(static_cast<uint32_t>(j)), entries.values.push_back(row[j]);
  return entries;
}

Entries entries_of(const data::SparseRows& rows, size_t i) {
  const auto at = rows.row_indices(i);
  const auto values = rows.row_values(i);
  return {{at.begin(), at.end()}, {values.begin(), values.end()}};
}

double norm_of(std::span<const double> values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

/// The integers of a record, or none if it must not count.
std::vector<int64_t> rounded(std::vector<double> values, int bits, double max_norm,
                             size_t columns) {
  const bool whole = bits == 0;
  const double spacing = std::ldexp(1.0, -bits);
  const double bound =
      whole ? max_norm
            : (max_norm - std::sqrt(static_cast<double>(columns)) * spacing / 2) * (1 - 0x1p-40);
  const double norm = norm_of(values);
  if (whole && norm > bound * (1 + 0x1p-40)) return {};
  const double by = !whole && norm > bound ? bound / norm : 1.0;
  std::vector<int64_t> integers;
  for (const double value : values) {
    const double units = std::nearbyint(value * by / spacing);
    if (whole && units != value) return {};
    integers.push_back(static_cast<int64_t>(units));
  }
  return integers;
}

}  // namespace

IntegerRows::IntegerRows(const data::AnyRows& rows, int bits, double max_norm)
    : columns_(data::columns_of(rows)), bits_(bits) {
  check(bits >= 0 && bits <= 30 && max_norm > 0 && max_norm < 0x1p20);
  std::visit(
      [&](const auto& kind) {
        for (size_t i = 0; i < kind->size(); ++i) {
          Entries entries = entries_of(*kind, i);
          const auto integers = rounded(std::move(entries.values), bits, max_norm, columns_);
          for (size_t k = 0; k < integers.size(); ++k) {
            if (integers[k] == 0) continue;
            at_.push_back(entries.at[k]);
            values_.push_back(integers[k]);
          }
          offsets_.push_back(at_.size());
        }
      },
      rows);
}

IntegerRows::IntegerRows(std::span<const int64_t> numbers, size_t stride, size_t columns, int bits)
    : columns_(columns), bits_(bits) {
  check(columns <= stride && stride > 0 && numbers.size() % stride == 0);
  for (size_t first = 0; first < numbers.size(); first += stride) {
    for (size_t j = 0; j < columns; ++j) {
      if (numbers[first + j] == 0) continue;
      at_.push_back(static_cast<uint32_t>(j));
      values_.push_back(numbers[first + j]);
    }
    offsets_.push_back(at_.size());
  }
}

std::vector<int64_t> IntegerRows::scores(std::span<const double> x, double scale, int fraction,
                                         double limit) const {
  check(x.size() == columns_);
  const double units = std::ldexp(scale, fraction - bits_);
  const double most = std::floor(std::ldexp(limit, fraction));
  std::vector<int64_t> out(size());
  for (size_t i = 0; i < out.size(); ++i) {
    const auto where = at(i);
    const auto what = values(i);
    double sum = 0;  // In the order of the columns: nothing but the record decides its bits.
    for (size_t k = 0; k < where.size(); ++k)
      sum = std::fma(static_cast<double>(what[k]), x[where[k]], sum);
    out[i] = static_cast<int64_t>(std::clamp(std::nearbyint(sum * units), -most, most));
  }
  return out;
}

std::vector<uint64_t> IntegerRows::combination(std::span<const uint64_t> words) const {
  check(words.size() == size());
  std::vector<uint64_t> sum(columns_);
  for (size_t i = 0; i < words.size(); ++i) {
    const auto where = at(i);
    const auto what = values(i);
    for (size_t k = 0; k < where.size(); ++k)
      sum[where[k]] += static_cast<uint64_t>(what[k]) * words[i];
  }
  return sum;
}

}  // namespace parley::learn
