// An audit: the epsilon that an attack certifies beside the one that is claimed, and what the same
// attack would have certified had something been wrong.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "parley/audit/targets/target.h"
#include "parley/audit/two_world.h"

namespace parley::audit {

using parley::Audit;
using Method = parley::AuditMethod;

/// Plays with the target, and with its control if it has one, at most as often.
Result<Audit> run(const Target& target, Method method, const Effort& effort);

/// How many plays, or canaries, that takes in all, for progress.
uint64_t plays_of(const Target& target, Method method, uint64_t runs);

}  // namespace parley::audit
