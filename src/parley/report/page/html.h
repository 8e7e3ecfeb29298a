// Writes pages for people: each stands alone, without scripts and with nothing from elsewhere, and
// can be printed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace parley::report {

/// For XML and HTML, in text and in attributes.
std::string escaped(std::string_view text);

/// `style` is CSS and `body` HTML; the title is escaped.
std::string html_page(std::string_view title, std::string_view style, std::string_view body);

/// Of a table: cells in "td" or "th", escaped.
std::string html_row(const std::vector<std::string>& cells, std::string_view tag);

}  // namespace parley::report
