// A bundle that was made, as the lines that a charter needs.
#pragma once

#include <string>

#include "parley/learn/preprocess/bundle.h"

namespace parley::report {

struct Prepared {
  std::string bundle_file;  // as the charter names it
  learn::Bundle bundle{};
};

std::string to_text(const Prepared& prepared);  // TOML, to be added to the charter
std::string to_json(const Prepared& prepared);  // parley.prepare/1

}  // namespace parley::report
