// A draft charter and what was left out of it, and why.
#pragma once

#include <string>
#include <vector>

#include "parley/charter/draft/draft.h"

namespace parley::report {

struct Drafted {
  charter::Draft draft{};
  bool has_pilot = false;
  std::vector<std::string> files{};  // written
};

std::string to_note(const Drafted& drafted);
std::string to_json(const Drafted& drafted);  // parley.init/1

}  // namespace parley::report
