// Turns the texts of a record into features and a label, by the schema. Nothing here can fail on
// what a record contains: an odd text becomes a public constant, and only its owner can see how
// many.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/learn/data/rows.h"
#include "parley/learn/data/schema.h"
#include "parley/learn/preprocess/transform.h"

namespace parley::learn {

/// For the owner's own eyes: all but `rows` depend on what the records contain.
struct CsvCounts {
  uint64_t rows = 0;
  uint64_t out_of_bounds = 0;  // numbers moved to a bound
  uint64_t replaced = 0;       // texts that are no number or no listed category
};

/// Reads the texts of one column, without the blanks around them. In numbers it also ignores '%',
/// thousands separators (',' or, with a decimal comma, '.'; blanks; apostrophes) and `strip`; in
/// categories only `strip`.
class CsvTexts {
 public:
  CsvTexts(std::string_view strip, char decimal);
  CsvTexts(std::string_view strip, const std::vector<std::string>& levels);

  std::optional<double> number(std::string_view text);  // finite
  std::optional<size_t> level(std::string_view text);

 private:
  void clean(std::string_view text);

  char decimal_ = '.';
  std::array<bool, 256> dropped_{};
  std::map<std::string, size_t, std::less<>> levels_{};
  std::string clean_{};  // the text at hand
};

class CsvEncoder {
 public:
  CsvEncoder(const Schema& schema, char decimal, bool labels);

  /// The columns that `add` expects, in this order: the schema's, then the target if labels are
  /// read.
  std::vector<std::string> wanted() const;
  size_t features() const { return z_.size(); }

  /// Adds the record to `rows`, transformed by the schema's bundle. What stands for an odd text: a
  /// column's `missing`; the level `other`, or without one level 0 of an integer category and no
  /// level of a one-hot category; the target's center; and for a class that is not listed the zero
  /// record.
  void add(std::span<const std::string_view> record, Rows& rows, CsvCounts& counts);

 private:
  double number(const Column& column, std::optional<double> value, CsvCounts& counts) const;
  size_t category(const Column& column, std::optional<size_t> level, double* z,
                  CsvCounts& counts) const;
  std::optional<double> label(std::string_view text, CsvCounts& counts);

  Schema schema_;
  bool labels_;
  std::vector<CsvTexts> texts_{};  // one per column, then the target's
  std::vector<double> encoded_{}, z_{};
  std::optional<Transform> transform_{};  // the bundle's; without one encoded columns are features
};

}  // namespace parley::learn
