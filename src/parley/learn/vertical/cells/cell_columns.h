// An owner's columns as cells: which cells a schema has, and which leaf of each a record chooses.
//
// A feature of 1 is 2^bits whole numbers. A category's level adds its weight, the bias 2^bits; a
// number of B bits is moved to -2^(B-1) .. 2^(B-1) - 1 by its public bounds. So the square of a
// row's length is at most the sum of largest_square over its columns, and 4^bits with a bias,
// whatever leaves an owner chooses.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "parley/data/any_rows.h"
#include "parley/data/schema.h"
#include "parley/learn/vertical/cells/cells.h"
#include "parley/learn/vertical/integer_rows.h"

namespace parley::learn {

inline constexpr int64_t kUsualBits = 8, kFewestBits = 2, kMostBits = 16;

/// By the number with most bits; 0 where all columns are categories.
int cell_bits(const data::Schema& schema);

/// Of the longest part that a column can add to a row.
double largest_square(const data::Column& column);

/// How a label is told: two classes by -weight and +weight, a number in -1 .. 1 by its bits.
struct LabelGrid {
  int64_t weight = 0;
  uint32_t bits = 0;
  double largest() const { return weight > 0 ? double(weight) : double(uint64_t{1} << (bits - 1)); }
};

/// At least as large as the longest row, so that products with the label have no more noise than
/// others (moments_reach).
LabelGrid label_grid(const data::Target& target, double row_norm);

class CellColumns {
 public:
  /// Of the owner whose part of the schema this is, with the label if it holds that.
  CellColumns(const data::Schema& part, int bits, const std::optional<LabelGrid>& label);

  const Cells& cells() const { return cells_; }
  size_t features() const { return features_; }
  /// With the label's, the last.
  size_t columns() const { return features_ + (label_ ? 1 : 0); }

  /// One for every record and cell, record by record. Nothing fails on what a record holds: a
  /// category without a listed level takes the leaf that adds nothing, or, where every level has a
  /// leaf, the first.
  WipedVector<uint32_t> leaves(const data::AnyRows& rows) const;
  /// The whole numbers that leaves stand for.
  IntegerColumns integers(std::span<const uint32_t> leaves) const;

 private:
  struct Attribute {
    size_t feature = 0;
    uint32_t levels = 0;  // of a category
    bool none = false;
    uint32_t bits = 0;  // of a number, between these bounds as they are encoded
    double middle = 0, half = 0;
  };
  void add(const data::Column& column);
  void choose(std::span<const double> z, double label, WipedVector<uint32_t>& leaves) const;

  int bits_;
  std::optional<LabelGrid> label_;
  Cells cells_{};
  std::vector<Attribute> attributes_{};
  size_t features_ = 0;
};

}  // namespace parley::learn
