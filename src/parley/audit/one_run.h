// The one-run audit (Steinke, Nasr, Jagielski 2023): many canaries in a single run, each the record
// or its opposite by a fair coin. The attacker guesses the coins it is surest of; a mechanism that
// keeps its promise lets it be right about as often as randomized response would.
#pragma once

#include "parley/audit/two_world.h"

namespace parley::audit {

/// `effort.runs` is the number of canaries; a twentieth of them is guessed at either end, which is
/// fixed before anything is seen. The coin chooses between a record and its opposite: the audit is
/// of the promise under replace-one.
Result<Certificate> one_run(const CanaryRun& canaries, const Claim& claim, const Effort& effort);

}  // namespace parley::audit
