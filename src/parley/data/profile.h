// A summary of a CSV file, column by column, in one pass, for people who write a schema. The
// summary of a private file is itself private.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/result.h"
#include "parley/data/readers/csv_scan.h"

namespace parley::data {

/// Categories with more levels are not offered as such.
inline constexpr size_t kLevelsListed = 50;

/// Empty, or one of the usual words for it: NA, n/a, NaN, null, none, ?, -, .
bool means_missing(std::string_view text);

struct ColumnProfile {
  enum class Kind { kEmpty, kNumber, kCategory, kText };  // kText: more levels than listed
  std::string name{};
  uint64_t missing = 0, numbers = 0, texts = 0;  // they add up to the rows
  bool whole = true;                             // all numbers are whole
  double low = 0, high = 0;                      // of the numbers
  /// A sample of the numbers, sorted; all of them in files of up to kSample rows.
  static constexpr size_t kSample = 100'000;
  std::vector<double> sample{};
  std::map<std::string, uint64_t> levels{};  // with their counts; the first kLevelsListed + 1 met
  uint64_t distinct = 0;                     // counted up to kDistinct
  static constexpr uint64_t kDistinct = 100'000;
  bool unique = true;  // no value met twice while they were counted

  /// A number if at least 19 of 20 values are.
  Kind kind() const;
  /// Never varies.
  bool constant() const { return distinct <= 1; }
  /// Every record has its own value, as identities have. Measurements are not meant: those have
  /// fractions.
  bool identity() const;
  double quantile(double part) const;
};

struct Profile {
  uint64_t rows = 0;
  std::vector<ColumnProfile> columns{};  // in the file's order

  const ColumnProfile* find(std::string_view name) const;
};

Result<Profile> profile_csv(const std::filesystem::path& path, const CsvSigns& signs = {});

/// The structure alone: names and the number of rows, which charters make public anyway.
struct Outline {
  std::vector<std::string> names{};
  uint64_t rows = 0;
};
Result<Outline> outline_csv(const std::filesystem::path& path, const CsvSigns& signs = {});

}  // namespace parley::data
