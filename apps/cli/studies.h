// What the program has of studies/: all of it (studies.cc, reproduce.cc), or, built with
// PARLEY_STUDIES=OFF, nothing (without_studies.cc).
#pragma once

#include <string>
#include <vector>

#include "parley/report/audit.h"
#include "parley/sim/literal.h"

namespace parley::cli {

/// What trains a charter with calibration "paper"; without studies null.
const sim::Literal* literal();

std::vector<report::PlantedBug> planted_bugs();

struct PlantedTarget {
  audit::Target target;
  uint64_t runs = 0;  // that find it
};
Result<PlantedTarget> planted_target(const std::string& name);

}  // namespace parley::cli
