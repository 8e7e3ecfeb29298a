// The format of a record: its columns and their bounds. It is public, the same for every owner, and
// part of the charter.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "parley/data/transforms/bundle.h"

namespace parley::data {

struct Column {
  enum class Kind { kNumber, kCategory };
  enum class Encode { kInteger, kOneHot };
  std::string name{};
  Kind kind = Kind::kNumber;
  double low = 0, high = 0;           // numbers outside are moved to the nearest bound
  double missing = 0;                 // stands for a missing or unreadable number
  bool log = false;                   // log1p, after the bounds
  std::vector<std::string> levels{};  // categories, compared after trimming blanks
  bool other = false;                 // one more level for everything not listed, and for missing
  Encode encode = Encode::kOneHot;
  /// A category made of two others, whose names these are: its levels are the pairs of theirs. Its
  /// owner's files have no such column.
  std::vector<std::string> product_of{};
  /// Characters ignored in this column; in numbers '%' and thousands separators always are.
  std::string strip{};
  /// Where columns in several places become cells (learn/vertical/cells): bits of a number, weight
  /// of a category's level. 0 elsewhere.
  int64_t cell = 0;

  bool operator==(const Column&) const = default;
  bool is_product() const { return !product_of.empty(); }
  /// Of a category, `other` counted.
  size_t level_count() const { return levels.size() + other; }
};

struct Target {
  std::string column{};
  double low = 0, high = 0;
  double center = 0, scale = 1;       // y = (value - center) / scale
  std::vector<std::string> levels{};  // two classes, -1 and +1; empty for a number
  std::string strip{};

  bool operator==(const Target&) const = default;
};

struct Schema {
  std::vector<Column> columns{};
  Target target{};
  bool bias = false;               // one more feature, always 1, at the end
  std::optional<Bundle> bundle{};  // makes the features of the encoded columns; public

  /// Names of the encoded columns, in order: one per number or integer category, one per level of a
  /// one-hot category (`home=RENT`, ..., `home=other`).
  std::vector<std::string> encoded() const;
  /// Names of the features z: the bundle's, else the encoded columns; then `bias`.
  std::vector<std::string> features() const;
  /// Are the columns cells?
  bool in_cells() const { return !columns.empty() && columns.front().cell > 0; }
  /// Where the two factors of a product stand.
  std::array<size_t, 2> factors_of(const Column& product) const;
  /// Which feature is the bias.
  std::optional<size_t> bias_at() const;

  bool operator==(const Schema&) const = default;
};

/// Gives a product its levels, by what stands before it in `columns`: pairs, the second factor's
/// levels fastest. A pair of which a value is missing has no level. What is wrong with its factors,
/// or nothing.
std::string make_product(const std::vector<Column>& columns, Column& product);

}  // namespace parley::data
