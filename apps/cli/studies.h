// What the program has of studies/: all of it, or nothing if PARLEY_STUDIES is OFF.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "parley/report/audit.h"
#include "parley/sim/literal.h"
#if PARLEY_STUDIES
#include "studies/paper/literal.h"
#include "studies/planted/planted.h"
#endif

namespace parley::cli {

struct PlantedTarget {
  audit::Target target;
  uint64_t runs = 0;  // that find it
};

#if PARLEY_STUDIES

/// What trains a charter with calibration "paper"; without studies null.
inline const sim::Literal* literal() { return &paper::literal(); }

inline std::vector<report::PlantedBug> planted_bugs() {
  std::vector<report::PlantedBug> bugs;
  for (const planted::Bug& each : planted::bugs())
    bugs.push_back({each.name, each.what, each.source});
  return bugs;
}

inline Result<PlantedTarget> planted_target(const std::string& name) {
  audit::Target target = TRY(planted::target_of(name));
  for (const planted::Bug& each : planted::bugs())
    if (each.name == name) return PlantedTarget{std::move(target), each.runs};
  return check(false), PlantedTarget{};
}

#else

inline Error not_built(const std::string& what) {
  return {Code::kInvalid, "this program was built without " + what,
          "Build it with PARLEY_STUDIES=ON: cmake --preset release && cmake --build --preset "
          "release --target parley_cli; then build/release/parley has it."};
}

inline const sim::Literal* literal() { return nullptr; }

inline std::vector<report::PlantedBug> planted_bugs() { return {}; }

inline Result<PlantedTarget> planted_target(const std::string&) {
  return not_built("planted bugs");
}

#endif

}  // namespace parley::cli
