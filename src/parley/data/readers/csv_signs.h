// Detects from the first lines of a CSV file what the format leaves open: the separator, the
// decimal sign, and whether there is a header line.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "parley/base/result.h"
#include "parley/data.h"

namespace parley::data {

/// A sign of 0 is to be detected.
inline constexpr CsvSigns kFindSigns = {0, 0};

/// The signs in `asked`; those that are 0 there are detected in the first lines. The separator is
/// the one of comma, semicolon, tab and bar that makes the most fields, equally many in every line;
/// the decimal sign is a comma if numbers have commas and no points. If nothing can be detected, or
/// the file cannot be read, they are a comma and a point; reading the file will then report it.
CsvSigns signs_of(const std::filesystem::path& file, CsvSigns asked);

/// The same, but if the separator in `asked` leaves a line as one field, both signs are detected:
/// the file may come from somebody else than the files for which the signs were given.
CsvSigns signs_that_fit(const std::filesystem::path& file, CsvSigns asked);

/// Refuses a first line that is a record and no header: a quarter of its names are numbers, or it
/// is a line of a LIBSVM file. For files whose columns nobody has named yet.
Result<void> check_header(const std::filesystem::path& file, std::span<const std::string> names);

}  // namespace parley::data
