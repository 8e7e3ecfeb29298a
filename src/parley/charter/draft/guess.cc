#include "parley/charter/draft/guess.h"

#include <algorithm>
#include <cmath>

#include "parley/base/math/number.h"
#include "parley/charter/toml/accept.h"
#include "parley/data/readers/csv_scan.h"

namespace parley::charter {
namespace {

using data::Column, data::ColumnProfile;
using Kind = ColumnProfile::Kind;

/// A level that a charter can list.
bool is_listable(const std::string& level) {
  return any_text(level).empty() && data::is_utf8(level);
}

/// The most frequent first.
std::vector<std::string> levels_of(const ColumnProfile& column) {
  std::vector<std::pair<std::string, uint64_t>> counted(column.levels.begin(), column.levels.end());
  std::stable_sort(counted.begin(), counted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> levels;
  for (const auto& [level, count] : counted)
    if (is_listable(level)) levels.push_back(level);
  return levels;
}

/// A level of less than one part is not listed: scaled to variance 1, a rare level makes records so
/// long that the clip is all that is left of them.
constexpr uint64_t kRareParts = 100;

struct Bounds {
  double low, high;
};

Bounds bounds_of(const ColumnProfile& column) {
  Bounds bounds{column.quantile(.001), column.quantile(.999)};
  if (!(bounds.low < bounds.high)) bounds = {column.low, column.high};
  return {rounded_down(bounds.low, 2), rounded_up(bounds.high, 2)};
}

/// Large numbers, never negative, whose top percent is far away from the middle, as with money.
bool has_long_tail(const ColumnProfile& column, const Bounds& bounds) {
  const double most = column.quantile(.99);
  return bounds.low >= 0 && most >= 100 && most > 4 * column.quantile(.5) && column.distinct > 20;
}

}  // namespace

double rounded_down(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return 0;
  int exponent = static_cast<int>(std::floor(std::log10(std::fabs(value)))) - digits + 1;
  const auto read = [&](double units) {
    return *parse_number(shortest(units) + "e" + std::to_string(exponent));
  };
  const double units = std::floor(value / *parse_number("1e" + std::to_string(exponent)));
  return read(units + 1) <= value ? read(units + 1)
         : read(units) > value    ? read(units - 1)
                                  : read(units);
}

double rounded_up(double value, int digits) { return -rounded_down(-value, digits) + 0.0; }

std::string reason_to_leave_out(const ColumnProfile& column) {
  if (!any_text(column.name).empty()) return "no usable name";
  switch (column.kind()) {
    case Kind::kEmpty:
      return "no values";
    case Kind::kText:
      return column.identity() ? "unique values" : "more than 50 levels";
    case Kind::kCategory:
      if (levels_of(column).empty()) return "no usable levels";
      break;
    case Kind::kNumber:
      break;
  }
  if (column.constant()) return "constant";
  return column.identity() ? "unique values" : "";
}

Column guess_column(const ColumnProfile& column) {
  Column guess{.name = column.name};
  if (column.kind() == Kind::kCategory) {
    guess.kind = Column::Kind::kCategory;
    guess.levels = levels_of(column);
    const auto rare = [&](const std::string& level) {
      return column.levels.at(level) * kRareParts < column.numbers + column.texts;
    };
    const auto end = std::remove_if(guess.levels.begin() + 1, guess.levels.end(), rare);
    guess.levels.erase(end, guess.levels.end());
    // Two levels and nothing else are one number; two columns would say the same twice.
    const bool either_or = column.missing == 0 && column.distinct == 2 && guess.levels.size() == 2;
    guess.other = !either_or;
    if (either_or) guess.encode = Column::Encode::kInteger;
    return guess;
  }
  const Bounds bounds = bounds_of(column);
  guess.low = bounds.low, guess.high = bounds.high;
  guess.missing = std::clamp(rounded_down(column.quantile(.5), 3), guess.low, guess.high);
  guess.log = has_long_tail(column, bounds);
  return guess;
}

Result<data::Target> guess_target(const ColumnProfile& column) {
  data::Target target{.column = column.name};
  if (column.distinct == 2) {
    target.levels = levels_of(column);
    if (target.levels.size() == 2) {
      // Ascending, so that of 0 and 1 the second is the class that is looked for.
      const auto first = parse_number(target.levels[0]), second = parse_number(target.levels[1]);
      if (first && second ? *first > *second : target.levels[0] > target.levels[1])
        std::swap(target.levels[0], target.levels[1]);
      return target;
    }
  }
  if (column.kind() != Kind::kNumber || column.constant())
    return Error{Code::kInvalid,
                 "the target must be a number that varies, or one of two classes; found " +
                     std::to_string(column.distinct) + " different values",
                 "Name another column, or map its values to two classes first.",
                 {.key = column.name}};
  const Bounds bounds = bounds_of(column);
  target.levels.clear();
  target.low = bounds.low, target.high = bounds.high;
  target.center = std::clamp(rounded_down(column.quantile(.5), 3), target.low, target.high);
  target.scale = rounded_up(std::fmax(target.high - target.center, target.center - target.low), 3);
  return target;
}

}  // namespace parley::charter
