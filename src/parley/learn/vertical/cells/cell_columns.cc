#include "parley/learn/vertical/cells/cell_columns.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "parley/base/math/portable.h"
#include "parley/base/result.h"

namespace parley::learn {
namespace {

using data::Column;

bool is_number(const Column& column) { return column.kind == Column::Kind::kNumber; }

double power_of_two(int64_t exponent) { return std::ldexp(1.0, static_cast<int>(exponent)); }

/// u of a value: nearest, within the bits, and the middle for what is no number.
uint32_t shifted(double value, double middle, double half, uint32_t bits) {
  const double most = power_of_two(bits) - 1, zero = power_of_two(int64_t{bits} - 1);
  const double units = half > 0 ? std::nearbyint((value - middle) / (half / zero)) : 0;
  return static_cast<uint32_t>(std::isfinite(units) ? std::clamp(units + zero, 0.0, most) : zero);
}

void append(WipedVector<uint32_t>& leaves, uint32_t u, uint32_t bits) {
  const auto digits = number_leaves(u, bits);
  leaves.insert(leaves.end(), digits.begin(), digits.end());
}

void copy_row(const data::Rows& rows, size_t i, std::vector<double>& z) {
  const auto row = rows.row(i);
  std::copy(row.begin(), row.end(), z.begin());
}

void copy_row(const data::SparseRows& rows, size_t i, std::vector<double>& z) {
  std::fill(z.begin(), z.end(), 0.0);
  const auto at = rows.row_indices(i);
  for (size_t k = 0; k < at.size(); ++k) z[at[k]] = rows.row_values(i)[k];
}

}  // namespace

int cell_bits(const data::Schema& schema) {
  int64_t most = 1;
  for (const Column& column : schema.columns)
    if (is_number(column)) most = std::max(most, column.cell);
  return static_cast<int>(most - 1);
}

double largest_square(const Column& column) {
  const double largest =
      is_number(column) ? power_of_two(column.cell - 1) : static_cast<double>(column.cell);
  return largest * largest;
}

LabelGrid label_grid(const data::Target& target, double row_norm) {
  const auto least = static_cast<uint64_t>(std::ceil(row_norm));
  if (!target.levels.empty()) return {.weight = static_cast<int64_t>(least)};
  return {.bits = std::max(2u, static_cast<uint32_t>(std::bit_width(least - 1)) + 1)};
}

CellColumns::CellColumns(const data::Schema& part, int bits, const std::optional<LabelGrid>& label)
    : bits_(bits), label_(label) {
  for (const Column& column : part.columns) add(column);
  check(!cells_.empty());
  if (part.bias) add_to_all(cells_[0], static_cast<uint32_t>(features_++), int64_t{1} << bits);
  if (!label) return;
  const auto column = static_cast<uint32_t>(features_);
  if (label->weight > 0)
    cells_.push_back(label_cell(column, label->weight));
  else
    for (Cell& cell : number_cells(label->bits, column)) cells_.push_back(std::move(cell));
}

void CellColumns::add(const Column& column) {
  Attribute attribute{.feature = features_};
  const auto first = static_cast<uint32_t>(features_);
  if (is_number(column)) {
    const auto encoded = [&](double bound) { return column.log ? portable_log1p(bound) : bound; };
    attribute.bits = static_cast<uint32_t>(column.cell);
    attribute.middle = (encoded(column.low) + encoded(column.high)) / 2;
    attribute.half = (encoded(column.high) - encoded(column.low)) / 2;
    for (Cell& cell : number_cells(attribute.bits, first)) cells_.push_back(std::move(cell));
    ++features_;
  } else {
    attribute.levels = static_cast<uint32_t>(column.levels.size() + column.other);
    attribute.none = !column.other;
    cells_.push_back(category_cell(attribute.levels, attribute.none, first, column.cell));
    features_ += attribute.levels;
  }
  attributes_.push_back(attribute);
}

void CellColumns::choose(std::span<const double> z, double label,
                         WipedVector<uint32_t>& leaves) const {
  for (const Attribute& attribute : attributes_) {
    if (attribute.bits > 0) {
      append(leaves,
             shifted(z[attribute.feature], attribute.middle, attribute.half, attribute.bits),
             attribute.bits);
      continue;
    }
    uint32_t leaf = attribute.none ? attribute.levels : 0;
    for (uint32_t level = 0; level < attribute.levels; ++level)
      if (z[attribute.feature + level] > .5) leaf = level;
    leaves.push_back(leaf);
  }
  if (!label_) return;
  if (label_->weight > 0)
    leaves.push_back(label > 0 ? 1 : 0);
  else
    append(leaves, shifted(label, 0, 1, label_->bits), label_->bits);
}

WipedVector<uint32_t> CellColumns::leaves(const data::AnyRows& rows) const {
  check(data::columns_of(rows) == features_);
  WipedVector<uint32_t> leaves;
  leaves.reserve(data::size_of(rows) * cells_.size());
  std::vector<double> z(features_);
  std::visit(
      [&](const auto& kind) {
        for (size_t i = 0; i < kind->size(); ++i) {
          copy_row(*kind, i, z);
          choose(z, kind->label(i), leaves);
        }
      },
      rows);
  return leaves;
}

IntegerColumns CellColumns::integers(std::span<const uint32_t> leaves) const {
  const WipedVector<int64_t> all = rows_of(cells_, leaves, columns());
  IntegerColumns made{IntegerRows(all, columns(), features_, bits_)};
  for (size_t at = features_; label_ && at < all.size(); at += columns())
    made.labels.push_back(all[at]);
  return made;
}

}  // namespace parley::learn
