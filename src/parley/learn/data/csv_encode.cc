#include "parley/learn/data/csv_encode.h"

#include <algorithm>
#include <cmath>

#include "parley/base/math/portable.h"
#include "parley/base/number.h"
#include "parley/base/result.h"
#include "parley/learn/data/csv_records.h"

namespace parley::learn {
namespace {

// No number contains a byte of the no-break spaces U+00A0 and U+202F, so all of them can go.
constexpr std::string_view kIgnoredInNumbers = "%' \t\xC2\xA0\xE2\x80\xAF";

/// Moved to the nearest bound, and counted if that changes it.
double bounded(double value, double low, double high, CsvCounts& counts) {
  counts.out_of_bounds += value < low || value > high;
  return std::fmin(std::fmax(value, low), high);
}

}  // namespace

CsvTexts::CsvTexts(std::string_view strip, char decimal) : decimal_(decimal) {
  for (unsigned char c : kIgnoredInNumbers) dropped_[c] = true;
  for (unsigned char c : strip) dropped_[c] = true;
  dropped_[decimal == ',' ? '.' : ','] = true;
}

CsvTexts::CsvTexts(std::string_view strip, const std::vector<std::string>& levels) {
  for (unsigned char c : strip) dropped_[c] = true;
  for (size_t i = 0; i < levels.size(); ++i) {
    clean(levels[i]);
    levels_.emplace(trimmed(clean_), i);
  }
}

std::optional<double> CsvTexts::number(std::string_view text) {
  clean(text);
  std::replace(clean_.begin(), clean_.end(), decimal_, '.');
  const auto value = parse_number(trimmed(clean_));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<size_t> CsvTexts::level(std::string_view text) {
  clean(text);
  const auto found = levels_.find(trimmed(clean_));
  return found == levels_.end() ? std::nullopt : std::optional(found->second);
}

void CsvTexts::clean(std::string_view text) {
  clean_.clear();
  for (char c : text)
    if (!dropped_[static_cast<unsigned char>(c)]) clean_ += c;
}

CsvEncoder::CsvEncoder(const Schema& schema, char decimal, bool labels)
    : schema_(schema),
      labels_(labels),
      encoded_(schema.encoded().size()),
      z_(schema.features().size()) {
  if (schema.bundle) transform_.emplace(*schema.bundle);
  for (const Column& column : schema.columns)
    texts_.push_back(column.kind == Column::Kind::kNumber ? CsvTexts(column.strip, decimal)
                                                          : CsvTexts(column.strip, column.levels));
  const Target& target = schema.target;
  texts_.push_back(target.levels.empty() ? CsvTexts(target.strip, decimal)
                                         : CsvTexts(target.strip, target.levels));
}

std::vector<std::string> CsvEncoder::wanted() const {
  std::vector<std::string> names;
  for (const Column& column : schema_.columns) names.push_back(column.name);
  if (labels_) names.push_back(schema_.target.column);
  return names;
}

void CsvEncoder::add(std::span<const std::string_view> record, Rows& rows, CsvCounts& counts) {
  const size_t columns = schema_.columns.size();
  check(record.size() == columns + labels_);
  double* z = encoded_.data();
  for (size_t i = 0; i < columns; ++i) {
    const Column& column = schema_.columns[i];
    if (column.kind == Column::Kind::kNumber)
      *z++ = number(column, texts_[i].number(record[i]), counts);
    else
      z += category(column, texts_[i].level(record[i]), z, counts);
  }
  const auto features = std::span(z_).first(z_.size() - schema_.bias);
  if (transform_)
    transform_->apply(encoded_, features);
  else
    std::copy(encoded_.begin(), encoded_.end(), features.begin());
  if (schema_.bias) z_.back() = 1;
  const std::optional<double> y = labels_ ? label(record[columns], counts) : 0.0;
  if (!y) std::fill(z_.begin(), z_.end(), 0.0);
  rows.add(z_, y.value_or(0));
  ++counts.rows;
}

double CsvEncoder::number(const Column& column, std::optional<double> value,
                          CsvCounts& counts) const {
  counts.replaced += !value;
  const double in_bounds =
      value ? bounded(*value, column.low, column.high, counts) : column.missing;
  return column.log ? portable_log1p(in_bounds) : in_bounds;
}

/// Writes the category's features at z; returns how many.
size_t CsvEncoder::category(const Column& column, std::optional<size_t> level, double* z,
                            CsvCounts& counts) const {
  const size_t width = column.levels.size() + column.other;
  counts.replaced += !level && !column.other;
  if (!level && column.other) level = column.levels.size();
  if (column.encode == Column::Encode::kInteger) return *z = double(level.value_or(0)), 1;
  std::fill(z, z + width, 0.0);
  if (level) z[*level] = 1;
  return width;
}

std::optional<double> CsvEncoder::label(std::string_view text, CsvCounts& counts) {
  const Target& target = schema_.target;
  if (!target.levels.empty()) {
    const auto level = texts_.back().level(text);
    counts.replaced += !level;
    return level ? std::optional(*level == 0 ? -1.0 : 1.0) : std::nullopt;
  }
  const auto value = texts_.back().number(text);
  counts.replaced += !value;
  if (!value) return 0;  // As if it were the center.
  return (bounded(*value, target.low, target.high, counts) - target.center) / target.scale;
}

}  // namespace parley::learn
