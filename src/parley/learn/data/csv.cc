#include "parley/learn/data/csv.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/learn/data/csv_scan.h"

namespace parley::learn {
namespace {

Error error_at(const CsvRecord& record, size_t field, std::string key, std::string what,
               std::string hint) {
  Where where = record.where(field);
  where.key = std::move(key);
  return {Code::kInvalid, std::move(what), std::move(hint), std::move(where)};
}

/// Finds the columns in the header, then hands each record to the encoder.
class Reader {
 public:
  Reader(const Schema& schema, const CsvOptions& options)
      : encoder_(schema, options.decimal, options.labels), result_{Rows(encoder_.features()), {}} {}

  Result<void> take_header(const CsvRecord& header, const std::vector<std::string>& names);
  void take_row(const CsvRecord& record);
  CountedRows result() && { return std::move(result_); }

 private:
  CsvEncoder encoder_;
  CountedRows result_;
  std::vector<size_t> positions_{};      // of the wanted columns
  std::vector<std::string_view> row_{};  // the wanted texts
};

Result<void> Reader::take_header(const CsvRecord& header, const std::vector<std::string>& names) {
  for (const std::string& name : encoder_.wanted()) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      return error_at(header, 0, name, "the file has no such column",
                      names.size() == 1 ? "The header has one column only: check the separator."
                                        : "Check the names in the header line.");
    const auto again = std::find(found + 1, names.end(), name);
    if (again != names.end())
      return error_at(header, again - names.begin(), name, "the file has this column twice",
                      "Rename or remove one of them.");
    positions_.push_back(found - names.begin());
  }
  row_.resize(positions_.size());
  return {};
}

void Reader::take_row(const CsvRecord& record) {
  for (size_t i = 0; i < row_.size(); ++i) row_[i] = record[positions_[i]];
  encoder_.add(row_, result_.rows, result_.counts);
}

Result<void> check_options(const CsvOptions& options) {
  const auto is_odd = [](char c) {
    return c == '"' || c == '\n' || c == '\r' || (c >= '0' && c <= '9') || c == '-' || c == '+';
  };
  if (is_odd(options.separator) || is_odd(options.decimal))
    return Error{
        Code::kInvalid, "the separator or decimal sign cannot be used in a CSV file",
        "Usual are the separators comma, semicolon and tab, the decimals point and comma."};
  return {};
}

}  // namespace

Result<Rows> read_csv(const std::filesystem::path& path, const Schema& schema,
                      const CsvOptions& options) {
  return TRY(read_csv_counted(path, schema, options)).rows;
}

Result<CountedRows> read_csv_counted(const std::filesystem::path& path, const Schema& schema,
                                     const CsvOptions& options) {
  TRY(check_options(options));
  Reader reader(schema, options);
  TRY(scan_csv(path, {.separator = options.separator,
                      .names = [&](const CsvRecord& header,
                                   const auto& names) { return reader.take_header(header, names); },
                      .record = [&](const CsvRecord& record) -> Result<void> {
                        reader.take_row(record);
                        return {};
                      }}));
  return std::move(reader).result();
}

}  // namespace parley::learn
