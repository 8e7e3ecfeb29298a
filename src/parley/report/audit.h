// `parley audit`, for people and programs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "parley/audit/audit.h"

namespace parley::report {

std::string to_text(const audit::Audit& audit);
std::string to_json(const audit::Audit& audit);  // parley.audit/1

/// A mistake made on purpose (studies/planted/), which the program may bring.
struct PlantedBug {
  std::string_view name, what, source;
};
/// What can be audited by name: mechanisms, and these.
std::string list_text(std::span<const PlantedBug> planted);
std::string list_json(std::span<const PlantedBug> planted);

}  // namespace parley::report
