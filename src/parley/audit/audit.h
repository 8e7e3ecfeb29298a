// An audit: the epsilon that an attack certifies beside the one that is claimed, and what the same
// attack would have certified had something been wrong.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "parley/audit/targets/target.h"
#include "parley/audit/two_world.h"

namespace parley::audit {

using parley::Audit;
using Method = parley::AuditMethod;

/// Plays with the target, and with its control if it has one, at most as often.
Result<Audit> run(const Target& target, Method method, const Effort& effort);

/// How many plays, or canaries, that takes in all, for progress.
uint64_t plays_of(const Target& target, Method method, uint64_t runs);

std::string to_text(const Audit& audit);
std::string to_json(const Audit& audit);

/// A mistake made on purpose (studies/planted/), which the program may bring.
struct PlantedBug {
  std::string_view name, what, source;
};
/// What can be audited by name: mechanisms, and these.
std::string list_text(std::span<const PlantedBug> planted);
std::string list_json(std::span<const PlantedBug> planted);

}  // namespace parley::audit
