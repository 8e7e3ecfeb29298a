#include "parley/report/provenance.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "parley/base/version.h"

namespace parley::report {
namespace {

using Json = nlohmann::ordered_json;

Provenance& of_this_process() {
  static Provenance provenance;
  return provenance;
}

/// A result must come out, whatever was typed.
std::string valid(const std::string& text) {
  const std::string quoted = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(quoted).get<std::string>();
}

}  // namespace

void set_provenance(Provenance provenance) {
  for (std::string& word : provenance.command) word = valid(word);
  of_this_process() = std::move(provenance);
}

Json provenance() {
  const Provenance& made = of_this_process();
  return {{"version", kVersion},
          {"commit", commit()},
          {"command", made.command},
          {"seed", made.seed ? Json(*made.seed) : Json()}};
}

}  // namespace parley::report
