// How much owners differ, as estimated by the paid number of rule "distance".
#pragma once

#include <string>

#include "parley/learn/model.h"

namespace parley::report {

/// One line for people.
std::string to_text(const learn::Distance& distance);
/// The same as a JSON object.
std::string to_json(const learn::Distance& distance);

}  // namespace parley::report
