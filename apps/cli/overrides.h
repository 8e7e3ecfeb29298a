// --set key=value, for every command that reads a charter.
#pragma once

#include <string>
#include <vector>

#include "commands.h"
#include "parley/charter/charter.h"

namespace parley::cli {

inline Result<std::vector<charter::Override>> overrides(const std::vector<std::string>& set) {
  std::vector<charter::Override> changes;
  for (const std::string& text : set) {
    Pair pair = TRY(split_pair(text, "--set"));
    changes.push_back({std::move(pair.key), std::move(pair.value)});
  }
  return changes;
}

}  // namespace parley::cli
