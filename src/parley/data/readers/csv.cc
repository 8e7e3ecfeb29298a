#include "parley/data/readers/csv.h"

#include <string>
#include <utility>
#include <vector>

#include "parley/data/readers/csv_scan.h"

namespace parley::data {
Result<Rows> read_csv(const std::filesystem::path& path, const Schema& schema,
                      const CsvOptions& options) {
  return TRY(read_csv_counted(path, schema, options)).rows;
}

Result<CountedRows> read_csv_counted(const std::filesystem::path& path, const Schema& schema,
                                     const CsvOptions& options) {
  TRY(check_signs({options.separator, options.decimal}));
  Intake intake(schema, options.select, options.decimal, options.labels);
  const auto in_file = [&](Error error) {
    error.where.file = path.string();
    return error;
  };
  if (!options.header.empty()) {
    const auto taken = intake.take_header(options.header, [](size_t) { return Where{}; });
    if (!taken) return in_file(taken.error());
  }
  TRY(scan_csv(path, {.separator = options.separator,
                      .columns = options.header.size(),
                      .unpacked_bytes_max = options.unpacked_bytes_max,
                      .names =
                          [&](const CsvRecord& header, const std::vector<std::string>& names) {
                            return intake.take_header(names,
                                                      [&](size_t i) { return header.where(i); });
                          },
                      .record = [&](const CsvRecord& record) -> Result<void> {
                        intake.add([&](size_t i) { return Cell::of(record[i]); });
                        if (intake.failure()) return *intake.failure();
                        return {};
                      }}));
  auto rows = std::move(intake).finish();
  if (!rows) return in_file(rows.error());
  return rows;
}

}  // namespace parley::data
