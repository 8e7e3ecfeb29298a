// What the console's pages share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "parley/report/console/console.h"

namespace parley::report {

std::string console_frame(const Console& console, std::string_view title, std::string_view body);
/// Spent, reserved and left of every data set, track by track, as gauges and as numbers.
std::string budgets(const Console& console);
/// 1,234 bytes as 1.2 kB; 90 seconds as 1 min 30 s.
std::string bytes_text(uint64_t bytes);
std::string duration_text(double seconds);
/// A link to a charter's page, with its name.
std::string link_to(const ConsoleCharter& charter);

}  // namespace parley::report
