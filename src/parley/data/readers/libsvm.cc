#include "parley/data/readers/libsvm.h"

#include <limits>
#include <string>
#include <vector>

#include "parley/base/math/number.h"
#include "parley/data/readers/libsvm_lines.h"
#include "parley/data/readers/quick_number.h"

namespace parley::data {
namespace {

Result<void> check_schema(const Schema& schema, bool sparse) {
  if (schema.bundle)
    return Error{Code::kInvalid, "a bundle makes its features of CSV or database columns",
                 "Give the same records as CSV, or a charter without [preprocess]."};
  for (const Column& column : schema.columns) {
    if (column.kind != Column::Kind::kNumber)
      return Error{Code::kInvalid,
                   "a LIBSVM file holds numbers only, and this column is a category",
                   "Use a CSV file, or a charter of numbers.",
                   {.key = column.name}};
    if (sparse && !(column.low <= 0 && column.high >= 0))
      return Error{Code::kInvalid,
                   "the bounds leave out 0, so that no row of this column is sparse",
                   "Widen the bounds, or read the rows as dense ones.",
                   {.key = column.name}};
  }
  return {};
}

/// The label of a line: a class by its number, where both have one, or by its text.
class Labels {
 public:
  explicit Labels(const Target& target) : target_(target) {
    for (const std::string& level : target.levels) numbers_.push_back(quick_number(level));
  }

  /// Nothing for a class that is not listed.
  std::optional<double> read(std::string_view text, Counts::Column& counts) const {
    const double number = quick_number(text);
    if (target_.levels.empty()) return encode_label(target_, number, counts);
    for (size_t i = 0; i < 2; ++i)
      if (text == target_.levels[i] || number == numbers_[i]) return i == 0 ? -1.0 : 1.0;
    ++counts.replaced;
    return std::nullopt;
  }

 private:
  const Target& target_;
  std::vector<double> numbers_{};  // kNoNumber equals nothing
};

/// Encodes line after line into columns and values.
class LineIntake {
 public:
  LineIntake(const Schema& schema, const LibsvmOptions& options)
      : schema_(schema),
        labels_(options.labels ? std::optional<Labels>(schema.target) : std::nullopt),
        rows_max_(options.rows.value_or(std::numeric_limits<uint64_t>::max())) {
    counts.columns.resize(schema.columns.size() + 1);
  }

  /// `rows` is of either kind.
  template <class AnyRows>
  void add(const LibsvmLine& line, AnyRows& rows) {
    if (++counts.rows > rows_max_) return;  // Only counted: an error already.
    const auto y = labels_ ? labels_->read(line.label, counts.columns.back()) : std::optional(0.0);
    if (!y) return rows.add_zero();
    at_.clear(), values_.clear();
    for (const LibsvmLine::Entry& entry : line.entries) {
      if (entry.index > schema_.columns.size()) {
        ++counts.ignored;
        continue;
      }
      const size_t j = entry.index - 1;
      at_.push_back(static_cast<uint32_t>(j));
      values_.push_back(encode_number(schema_.columns[j], entry.value, counts.columns[j]));
    }
    put(*y, rows);
  }

  Counts counts{};

 private:
  void put(double y, SparseRows& rows) {
    if (schema_.bias) at_.push_back(static_cast<uint32_t>(schema_.columns.size()));
    if (schema_.bias) values_.push_back(1);
    rows.add(at_, values_, y);
  }
  void put(double y, Rows& rows) {
    if (absent_.empty()) {
      Counts::Column uncounted;
      for (const Column& column : schema_.columns)
        absent_.push_back(encode_number(column, 0.0, uncounted));
      if (schema_.bias) absent_.push_back(1);
      z_ = absent_;
    }
    for (size_t k = 0; k < at_.size(); ++k) z_[at_[k]] = values_[k];
    rows.add(z_, y);
    for (uint32_t j : at_) z_[j] = absent_[j];
  }

  const Schema& schema_;
  std::optional<Labels> labels_;
  uint64_t rows_max_;
  std::vector<uint32_t> at_{};
  std::vector<double> values_{};
  std::vector<double> absent_{}, z_{};  // dense: what a record holds where its line is silent
};

template <class AnyRows>
Result<Counts> read_into(AnyRows& rows, const std::filesystem::path& path, const Schema& schema,
                         const LibsvmOptions& options) {
  LineIntake intake(schema, options);
  LibsvmLines lines([&](const LibsvmLine& line) { intake.add(line, rows); });
  Result<void> fed;
  const auto read = read_unpacked(path, options.unpacked_bytes_max, [&](ByteView piece) {
    fed = lines.feed({reinterpret_cast<const char*>(piece.data()), piece.size()});
    return bool(fed) && !rows.failure();
  });
  TRY(fed);
  if (rows.failure()) return *rows.failure();
  if (!read) {
    Error error = read.error();
    if (intake.counts.rows > 0) error.where.line = static_cast<int>(lines.line());
    return error;
  }
  TRY(lines.end());
  if (rows.failure()) return *rows.failure();
  if (options.rows && intake.counts.rows != *options.rows)
    return wrong_number_of_rows(*options.rows, intake.counts.rows);
  return std::move(intake.counts);
}

template <class Counted, class AnyRows>
Result<Counted> read_as(const std::filesystem::path& path, const Schema& schema,
                        const LibsvmOptions& options) {
  TRY(check_schema(schema, std::is_same_v<AnyRows, SparseRows>));
  AnyRows rows(schema.columns.size() + schema.bias, options.memory);
  auto counts = read_into(rows, path, schema, options);
  if (counts) return Counted{std::move(rows), *std::move(counts)};
  Error error = counts.error();
  error.where.file = path.string();
  return error;
}

}  // namespace

Result<CountedRows> read_libsvm(const std::filesystem::path& path, const Schema& schema,
                                const LibsvmOptions& options) {
  return read_as<CountedRows, Rows>(path, schema, options);
}

Result<CountedSparseRows> read_libsvm_sparse(const std::filesystem::path& path,
                                             const Schema& schema, const LibsvmOptions& options) {
  return read_as<CountedSparseRows, SparseRows>(path, schema, options);
}

}  // namespace parley::data
