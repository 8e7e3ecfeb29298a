// The paid evaluation of a model and the test of its pilot, as every report shows them.
#pragma once

#include <string>

#include "parley/learn/model.h"
#include "parley/learn/pilot/wrong_pilot.h"

namespace parley::report {

/// "loss 0.0312 +- 0.0004 (...)", in one line for people.
std::string to_text(const learn::Evaluation& evaluation);
/// The same as a JSON object.
std::string to_json(const learn::Evaluation& evaluation);
std::string to_json(const learn::PilotCheck& check);

}  // namespace parley::report
