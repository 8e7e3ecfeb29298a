// How far owners differ, as it was paid for under rule "distance".
#pragma once

#include <string>

#include "parley/learn/model.h"

namespace parley::report {

/// One line for people.
std::string to_text(const learn::Distance& distance);
/// The same as a JSON object.
std::string to_json(const learn::Distance& distance);

}  // namespace parley::report
