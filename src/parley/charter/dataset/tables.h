// The tables that a query names.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace parley::charter {

/// After FROM and JOIN, at any depth, with their schemas, in small letters. Names of a WITH count
/// too. Nothing if the query names none, or is written in a way that is not read with certainty:
/// functions and texts in place of tables, quoted names with other than small letters, digits and
/// underscores, backslashes, dollar quotes.
std::optional<std::set<std::string>> tables_of(std::string_view query);

}  // namespace parley::charter
