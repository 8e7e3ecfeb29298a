// `parley forecast`, for people and programs.
#pragma once

#include <string>

#include "parley/forecast/forecast.h"

namespace parley::report {

using forecast::Forecast;

std::string to_text(const Forecast& forecast);
std::string to_json(const Forecast& forecast);  // parley.forecast/1
/// One page that stands alone and can be printed. `first` is HTML that comes before the forecast.
std::string to_html(const Forecast& forecast, const std::string& first = "");
/// What is on that page, for another page.
std::string to_fragment(const Forecast& forecast);

}  // namespace parley::report
