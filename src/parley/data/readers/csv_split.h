// Splits a CSV file into one file per owner in bounded memory: two passes, and for a random order
// one more pass for every 256 MB.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "parley/base/result.h"
#include "parley/data/readers/csv_records.h"

namespace parley::data {

struct CsvPart {
  std::filesystem::path file{};
  double share = 1;   // of the rows, relative to the others
  uint64_t rows = 0;  // as written
};

struct CsvSplit {
  char separator = ',';  // 0: it is found
  /// Rows with the same value in this column stay together, the largest groups placed first, each
  /// where most of the share is still open. Without it the parts are consecutive.
  std::string by{};
  /// Without `by`: each row goes to a part at random, by the shares, and the rows of a part are in
  /// random order: a file that is sorted leaves no trace in the parts.
  std::optional<uint64_t> random_seed{};
};

/// The record as a line; quoted only where it must be, so that a \r at the end stays one.
void append_line(std::string& text, const CsvRecord& record, char separator);

/// Writes the parts, each with the header; returns them with their rows. The files appear together
/// at the end, or none of them.
Result<std::vector<CsvPart>> split_csv(const std::filesystem::path& path, const CsvSplit& split,
                                       std::vector<CsvPart> parts);

}  // namespace parley::data
