#include "studies.h"

#include <utility>

#include "studies/paper/literal.h"
#include "studies/planted/planted.h"

namespace parley::cli {

const sim::Literal* literal() { return &paper::literal(); }

std::vector<report::PlantedBug> planted_bugs() {
  std::vector<report::PlantedBug> bugs;
  for (const planted::Bug& each : planted::bugs())
    bugs.push_back({each.name, each.what, each.source});
  return bugs;
}

Result<PlantedTarget> planted_target(const std::string& name) {
  audit::Target target = TRY(planted::target_of(name));
  for (const planted::Bug& each : planted::bugs())
    if (each.name == name) return PlantedTarget{std::move(target), each.runs};
  return check(false), PlantedTarget{};
}

}  // namespace parley::cli
