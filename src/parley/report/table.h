// Plain-text tables: columns as wide as their widest cell, numbers to the right.
#pragma once

#include <string>
#include <vector>

namespace parley::report {

/// Column 0 to the left, all others to the right; the first row is the header.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace parley::report
