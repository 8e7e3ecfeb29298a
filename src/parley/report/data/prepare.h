// A bundle that was made, as the lines that a charter needs.
#pragma once

#include <string>
#include <vector>

#include "parley/data/transforms/bundle.h"
#include "parley/data/transforms/paid_moments.h"

namespace parley::report {

struct Prepared {
  std::string bundle_file;  // as the charter names it
  data::Bundle bundle{};
};

/// A pilot that was drawn from paid moments.
struct DrawnPilot {
  std::string file;  // as the charter names it
  Hash sha256{};
  uint64_t rows = 0;
  std::vector<data::PaidMoments> moments{};
};

std::string to_text(const DrawnPilot& drawn);  // TOML, likewise
std::string to_json(const DrawnPilot& drawn);  // parley.drawn-pilot/1
std::string to_text(const data::PaidMoments& moments, const std::string& file);

std::string to_text(const Prepared& prepared);  // TOML, to be added to the charter
std::string to_json(const Prepared& prepared);  // parley.prepare/1

}  // namespace parley::report
