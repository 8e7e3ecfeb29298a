// An owner's rules in sentences, for the person who answers for them: what will be answered, to
// whom, for how much, and what that leaves.
#pragma once

#include <map>
#include <string>

#include "parley/charter/policy.h"
#include "parley/explain.h"

namespace parley::charter {

/// What the ledger says, by data set; what it does not name is untouched.
using SpentByDataset = std::map<std::string, privacy::Spent>;

std::string explain(const Policy& policy, const SpentByDataset& spent);

/// Why no rule of the policy accepts the charter, in one sentence; empty if one does.
std::string why_refused(const Policy& policy, const Charter& charter);

using parley::Preflight;

std::string explain(const Preflight& preflight);

}  // namespace parley::charter
