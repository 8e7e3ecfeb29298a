#include "parley/data/encode.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "parley/base/math/number.h"
#include "parley/base/math/portable.h"
#include "parley/base/result.h"
#include "parley/data/readers/csv_records.h"

namespace parley::data {
namespace {

// No number contains a byte of the no-break spaces U+00A0 and U+202F, so all of them can go.
constexpr std::string_view kIgnoredInNumbers = "%' \t\xC2\xA0\xE2\x80\xAF";

double finite(double value) { return std::isfinite(value) ? value : kNoNumber; }

std::string real_text(double number) {
  const double size = std::fabs(number);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e15);
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, number,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  return {text, end.ptr};
}

}  // namespace

std::string_view text_of(const Cell& cell, std::string& scratch) {
  if (cell.kind == Cell::Kind::kText) return trimmed(cell.text);
  scratch = cell.kind == Cell::Kind::kReal ? real_text(cell.real) : std::to_string(cell.integer);
  return scratch;
}

uint64_t Counts::out_of_bounds() const {
  uint64_t all = 0;
  for (const Column& column : columns) all += column.out_of_bounds;
  return all;
}

uint64_t Counts::replaced() const {
  uint64_t all = 0;
  for (const Column& column : columns) all += column.replaced;
  return all;
}

CellReader::CellReader(std::string_view strip, char decimal) : decimal_(decimal) {
  for (unsigned char c : kIgnoredInNumbers) dropped_[c] = true;
  for (unsigned char c : strip) dropped_[c] = true;
  dropped_[decimal == ',' ? '.' : ','] = true;
  // A leading '+' and the one of 1e+5 mean nothing, so dropping them changes no plain number.
  strips_ = decimal != '.';
  for (unsigned char c : std::string_view("0123456789.-eE")) strips_ |= dropped_[c];
}

CellReader::CellReader(std::string_view strip, const std::vector<std::string>& levels)
    : strips_(!strip.empty()) {
  for (unsigned char c : strip) dropped_[c] = true;
  for (size_t i = 0; i < levels.size(); ++i) {
    clean(levels[i]);
    levels_.emplace(trimmed(clean_), i);
  }
}

double CellReader::any_number(const Cell& cell) {
  if (cell.kind == Cell::Kind::kReal) return finite(cell.real);
  if (cell.kind == Cell::Kind::kInteger) return static_cast<double>(cell.integer);
  if (!strips_)  // Nor does one that is only longer, or has blanks around it.
    if (const double value = quick_number(trimmed(cell.text)); is_number(value)) return value;
  clean(cell.text);
  std::replace(clean_.begin(), clean_.end(), decimal_, '.');
  return quick_number(trimmed(clean_));
}

std::optional<size_t> CellReader::level(const Cell& cell) {
  std::string scratch;
  std::string_view text = text_of(cell, scratch);
  if (strips_) clean(text), text = trimmed(clean_);
  const auto found = levels_.find(text);
  return found == levels_.end() ? std::nullopt : std::optional(found->second);
}

void CellReader::clean(std::string_view text) {
  clean_.clear();
  for (char c : text)
    if (!dropped_[static_cast<unsigned char>(c)]) clean_ += c;
}

double encode_label(const Target& target, double value, Counts::Column& counts) {
  counts.replaced += !is_number(value);
  if (!is_number(value)) return 0;
  return (bounded(value, target.low, target.high, counts) - target.center) / target.scale;
}

Encoder::Encoder(const Schema& schema, char decimal, bool labels)
    : schema_(schema),
      labels_(labels),
      levels_(schema.columns.size()),
      encoded_(schema.encoded().size()),
      z_(schema.features().size()) {
  if (schema.bundle) transform_.emplace(*schema.bundle);
  for (const Column& column : schema.columns) {
    factors_.push_back(column.is_product() ? schema.factors_of(column) : std::array<size_t, 2>{});
    if (!column.is_product()) wanted_.push_back(column.name);
    cells_.push_back(column.kind == Column::Kind::kNumber
                         ? CellReader(column.strip, decimal)
                         : CellReader(column.strip, column.levels));
  }
  const Target& target = schema.target;
  if (labels) wanted_.push_back(target.column);
  cells_.push_back(target.levels.empty() ? CellReader(target.strip, decimal)
                                         : CellReader(target.strip, target.levels));
}

void Encoder::add(std::span<const Cell> record, Rows& rows, Counts& counts) {
  const size_t columns = schema_.columns.size();
  check(record.size() == wanted_.size() && counts.columns.size() == columns + 1);
  double* z = encoded_.data();
  const Cell* cell = record.data();
  for (size_t i = 0; i < columns; ++i) {
    const Column& column = schema_.columns[i];
    if (column.kind == Column::Kind::kNumber)
      *z++ = encode_number(column, cells_[i].number(*cell++), counts.columns[i]);
    else
      z += category(column, levels_[i] = level(i, cell), z, counts.columns[i]);
  }
  make_features();
  const auto y = labels_ ? label(*cell, counts.columns[columns]) : std::optional(0.0);
  y ? rows.add(z_, *y) : rows.add_zero();
}

void Encoder::make_features() {
  const auto features = std::span(z_).first(z_.size() - schema_.bias);
  if (transform_)
    transform_->apply(encoded_, features);
  else
    std::copy(encoded_.begin(), encoded_.end(), features.begin());
  if (schema_.bias) z_.back() = 1;
}

std::optional<size_t> Encoder::level(size_t column, const Cell*& cell) {
  if (!schema_.columns[column].is_product()) return cells_[column].level(*cell++);
  std::optional<size_t> pair = 0;
  for (const size_t factor : factors_[column]) {
    const Column& of = schema_.columns[factor];
    const auto level = levels_[factor] ? levels_[factor]
                       : of.other      ? std::optional(of.levels.size())
                                       : std::nullopt;
    pair = pair && level ? std::optional(*pair * of.level_count() + *level) : std::nullopt;
  }
  return pair;
}

/// Writes the category's features at z; returns how many.
size_t Encoder::category(const Column& column, std::optional<size_t> level, double* z,
                         Counts::Column& counts) {
  const size_t width = column.level_count();
  counts.replaced += !level && !column.other && !column.is_product();  // Its factors are counted.
  if (!level && column.other) level = column.levels.size();
  if (column.encode == Column::Encode::kInteger) return *z = double(level.value_or(0)), 1;
  std::fill(z, z + width, 0.0);
  if (level) z[*level] = 1;
  return width;
}

std::optional<double> Encoder::label(const Cell& cell, Counts::Column& counts) {
  const Target& target = schema_.target;
  if (target.levels.empty()) return encode_label(target, cells_.back().number(cell), counts);
  const auto level = cells_.back().level(cell);
  counts.replaced += !level;
  return level ? std::optional(*level == 0 ? -1.0 : 1.0) : std::nullopt;
}

}  // namespace parley::data
