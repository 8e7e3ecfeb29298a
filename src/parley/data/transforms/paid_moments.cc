#include "parley/data/transforms/paid_moments.h"

#include <algorithm>
#include <cmath>

#include "parley/base/math/portable.h"
#include "parley/data/encode.h"

namespace parley::data {
namespace {

/// A public interval.
struct Interval {
  double low = 0, high = 1;
  double middle() const { return (low + high) / 2; }
  double half() const { return high > low ? (high - low) / 2 : 1; }
  double inside(double value) const { return std::clamp((value - middle()) / half(), -1.0, 1.0); }
};

Interval interval_of(const Column& column) {
  if (column.kind == Column::Kind::kNumber) {
    if (!column.log) return {column.low, column.high};
    return {portable_log1p(column.low), portable_log1p(column.high)};
  }
  const double levels = static_cast<double>(column.levels.size()) + (column.other ? 1 : 0);
  return {0, column.encode == Column::Encode::kInteger ? std::fmax(levels - 1, 1) : 1};
}

size_t width_of(const Column& column) {
  const bool one =
      column.kind == Column::Kind::kNumber || column.encode == Column::Encode::kInteger;
  return one ? 1 : column.levels.size() + (column.other ? 1 : 0);
}

Interval interval_of(const Target& target) {
  if (!target.levels.empty()) return {-1, 1};
  return {(target.low - target.center) / target.scale,
          (target.high - target.center) / target.scale};
}

/// Of w without its first number.
std::vector<Interval> intervals_of(const Schema& schema) {
  std::vector<Interval> result;
  for (const Column& column : schema.columns)
    result.insert(result.end(), width_of(column), interval_of(column));
  result.push_back(interval_of(schema.target));
  return result;
}

/// Such as those of a unit that has its most already: they must contribute nothing, for the price
/// is that of as many records as one unit may have.
bool is_zero(const Rows& rows, size_t i) {
  const auto z = rows.row(i);
  return rows.label(i) == 0 && std::all_of(z.begin(), z.end(), [](double x) { return x == 0; });
}

}  // namespace

size_t moment_columns(const Schema& schema) { return schema.encoded().size() + 2; }

Result<Rows> moment_rows(const AnyRows& any, const Schema& schema) {
  const auto* given = std::get_if<std::shared_ptr<const Rows>>(&any);
  const Rows encoded = given ? **given : std::get<std::shared_ptr<const SparseRows>>(any)->dense();
  const std::vector<Interval> intervals = intervals_of(schema);
  check(encoded.columns() + 1 == intervals.size());
  if (moment_columns(schema) > kColumnsMax)
    return Error{Code::kInvalid, "paid moments are for at most 4094 encoded columns"};
  Rows rows(moment_columns(schema));
  std::vector<double> w(moment_columns(schema), 1);
  for (size_t i = 0; i < encoded.size(); ++i) {
    if (is_zero(encoded, i)) {
      rows.add_zero();
      continue;
    }
    for (size_t j = 0; j < encoded.columns(); ++j)
      w[j + 1] = intervals[j].inside(encoded.row(i)[j]);
    w.back() = intervals.back().inside(encoded.label(i));
    rows.add(w, 0);
  }
  return rows;
}

}  // namespace parley::data
