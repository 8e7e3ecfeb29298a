// Walks through a CSV file: its header, then record by record, in bounded memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/result.h"
#include "parley/data.h"
#include "parley/data/readers/csv_records.h"
#include "parley/data/readers/unpack.h"

namespace parley::data {

bool is_utf8(std::string_view text);

using parley::CsvSigns;
Result<void> check_signs(const CsvSigns& signs);

struct CsvScan {
  char separator = ',';
  size_t columns = 0;  // of a file without a header line, whose names the caller knows
  uint64_t unpacked_bytes_max = kUnpackedBytesMax;
  /// The header line and its names, without blanks around them, in UTF-8.
  std::function<Result<void>(const CsvRecord& header, const std::vector<std::string>& names)> names;
  /// Every other line, with as many fields as the header.
  std::function<Result<void>(const CsvRecord&)> record;
};

/// Plain or packed (data/readers/unpack.h). An error has file, line and column. Only the structure
/// can be wrong: no such file, another number of fields than the header, an open quote.
Result<void> scan_csv(const std::filesystem::path& path, const CsvScan& scan);

}  // namespace parley::data
