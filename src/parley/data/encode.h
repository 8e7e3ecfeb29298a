// Turns the cells of a record into features and a label, by the schema. No content of a record can
// make this fail: a value that cannot be read becomes a public constant, and how often that
// happened is known to the owner only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parley/base/math/portable.h"
#include "parley/data/readers/quick_number.h"
#include "parley/data/rows.h"
#include "parley/data/schema.h"
#include "parley/data/transforms/transform.h"

namespace parley::data {

/// One value of a record as its source has it: a text, or a number that never was one. No value is
/// the empty text.
struct Cell {
  enum class Kind { kText, kReal, kInteger };
  Kind kind = Kind::kText;
  union {
    std::string_view text{};
    double real;
    int64_t integer;
  };

  static Cell of(std::string_view text) { return {Kind::kText, {.text = text}}; }
  static Cell of(double real) { return {Kind::kReal, {.real = real}}; }
  static Cell of(int64_t integer) { return {Kind::kInteger, {.integer = integer}}; }
};

/// The text of a cell, without the blanks around it, as it is compared with levels, filters and
/// units. A number's is what PostgreSQL writes; `scratch` holds it.
std::string_view text_of(const Cell& cell, std::string& scratch);

/// For the owner's own eyes: all but `rows` depend on what the records contain.
struct Counts {
  struct Column {
    uint64_t out_of_bounds = 0;  // numbers moved to a bound
    uint64_t replaced = 0;       // cells that are no number or no listed category
  };
  uint64_t rows = 0;
  uint64_t left_out = 0;          // by the owner's row filter; not among `rows`
  uint64_t over_cap = 0;          // records of a unit that has its most already: zero records
  uint64_t without_unit = 0;      // records that name no unit: zero records
  uint64_t ignored = 0;           // LIBSVM values past the schema's last column
  std::vector<Column> columns{};  // the schema's, then the target

  uint64_t out_of_bounds() const;
  uint64_t replaced() const;
};

/// Reads the cells of one column, without the blanks around them. In numbers it also ignores '%',
/// thousands separators (',' or, with a decimal comma, '.'; blanks; apostrophes) and `strip`; in
/// categories only `strip`.
class CellReader {
 public:
  CellReader(std::string_view strip, char decimal);
  CellReader(std::string_view strip, const std::vector<std::string>& levels);

  /// Finite, or kNoNumber.
  double number(const Cell& cell) {
    if (cell.kind == Cell::Kind::kText && !strips_)  // A plain number needs no cleaning.
      if (const double value = plain_number(cell.text); is_number(value)) [[likely]]
        return value;
    return any_number(cell);
  }
  std::optional<size_t> level(const Cell& cell);

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  double any_number(const Cell& cell);
  void clean(std::string_view text);

  char decimal_ = '.';
  bool strips_ = false;  // something that can stand in a number or, in categories, anything
  std::array<bool, 256> dropped_{};
  std::unordered_map<std::string, size_t, Hash, std::equal_to<>> levels_{};
  std::string clean_{};  // the text at hand
};

/// Moved to the nearest bound, and counted if that changes it.
inline double bounded(double value, double low, double high, Counts::Column& counts) {
  counts.out_of_bounds += value < low || value > high;
  return value < low ? low : value > high ? high : value;
}

/// A number or kNoNumber by its column's rules: inside the bounds or `missing`, then the logarithm.
inline double encode_number(const Column& column, double value, Counts::Column& counts) {
  const bool found = is_number(value);
  counts.replaced += !found;
  const double in_bounds = found ? bounded(value, column.low, column.high, counts) : column.missing;
  return column.log ? portable_log1p(in_bounds) : in_bounds;
}

/// The label of a number, or of kNoNumber, which counts as the center.
double encode_label(const Target& target, double value, Counts::Column& counts);

class Encoder {
 public:
  Encoder(const Schema& schema, char decimal, bool labels);

  /// The columns that `add` expects, in this order: the schema's but for products, then the target
  /// if labels are read.
  const std::vector<std::string>& wanted() const { return wanted_; }
  size_t features() const { return z_.size(); }

  /// Adds the record to `rows`, transformed by the schema's bundle. What stands for an odd cell: a
  /// column's `missing`; the level `other`, or without one level 0 of an integer category and no
  /// level of a one-hot category; the target's center; and for a class that is not listed the zero
  /// record.
  void add(std::span<const Cell> record, Rows& rows, Counts& counts);

 private:
  /// Of a category or product; a record's own are in levels_.
  std::optional<size_t> level(size_t column, const Cell*& cell);
  static size_t category(const Column& column, std::optional<size_t> level, double* z,
                         Counts::Column& counts);
  std::optional<double> label(const Cell& cell, Counts::Column& counts);
  void make_features();  // of encoded_, in z_

  Schema schema_;
  bool labels_;
  std::vector<std::string> wanted_{};
  std::vector<CellReader> cells_{};               // one per column, then the target's
  std::vector<std::array<size_t, 2>> factors_{};  // of each column that is a product
  std::vector<std::optional<size_t>> levels_{};   // of the record at hand
  std::vector<double> encoded_{}, z_{};
  std::optional<Transform> transform_{};  // the bundle's; without one encoded columns are features
};

}  // namespace parley::data
