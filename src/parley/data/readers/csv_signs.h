// Detects from the first lines of a CSV file what the format leaves open: the separator, the
// decimal sign, and whether there is a header line.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "parley/base/result.h"
#include "parley/data.h"

namespace parley::data {

/// A sign of 0 is to be found.
inline constexpr CsvSigns kFindSigns = {0, 0};

/// What is asked for, and what is 0 there from the first lines: of comma, semicolon, tab and bar
/// the one that makes the most fields, in every line as many; a decimal comma where numbers have
/// one, and no point. A comma and a point where nothing tells, or the file cannot be read, which
/// reading it will say.
CsvSigns signs_of(const std::filesystem::path& file, CsvSigns asked);

/// The same, but where what is asked for leaves a line in one field, all is found: of a file that
/// others have made than those whose signs were asked for.
CsvSigns signs_that_fit(const std::filesystem::path& file, CsvSigns asked);

/// Refuses a first line that is a record: a quarter of its names are numbers, or it is a line of a
/// LIBSVM file. For files of which nobody has said which columns they have.
Result<void> check_header(const std::filesystem::path& file, std::span<const std::string> names);

}  // namespace parley::data
