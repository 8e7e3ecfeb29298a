// In place of studies.cc and reproduce.cc if PARLEY_STUDIES is OFF.
#include "commands.h"
#include "studies.h"

namespace parley::cli {
namespace {

Error not_built(const std::string& what) {
  return {Code::kInvalid, "this program was built without " + what,
          "Build it with PARLEY_STUDIES=ON: cmake --preset release && cmake --build --preset "
          "release --target parley_cli; then build/release/parley has it."};
}

}  // namespace

const sim::Literal* literal() { return nullptr; }

std::vector<report::PlantedBug> planted_bugs() { return {}; }

Result<PlantedTarget> planted_target(const std::string&) { return not_built("planted bugs"); }

Result<Output> run(const ReproduceOptions&, ProgressStyle) {
  return not_built("the papers' figures");
}

}  // namespace parley::cli
