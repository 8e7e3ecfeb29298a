// The paid evaluation of a model, as every report shows it.
#pragma once

#include <string>

#include "parley/learn/model.h"

namespace parley::report {

/// "loss 0.0312 +- 0.0004 (...)", in one line for people.
std::string to_text(const learn::Evaluation& evaluation);
/// The same as a JSON object.
std::string to_json(const learn::Evaluation& evaluation);

}  // namespace parley::report
