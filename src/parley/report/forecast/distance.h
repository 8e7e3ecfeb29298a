// `parley forecast` of a charter with rule "distance": how precise its one number would be.
#pragma once

#include <string>

#include "parley/forecast/forecast.h"

namespace parley::report {

std::string distance_text(const forecast::Forecast& forecast);
std::string distance_json(const forecast::Forecast& forecast);  // parley.forecast/1

}  // namespace parley::report
