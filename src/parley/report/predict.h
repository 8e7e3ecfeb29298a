// Predictions, as CSV for people's tools and as JSON.
#pragma once

#include <string>

#include "parley/predict.h"

namespace parley::report {

using parley::Predictions;

std::string to_csv(const Predictions& predictions);
std::string to_json(const Predictions& predictions);  // parley.predict/1

}  // namespace parley::report
