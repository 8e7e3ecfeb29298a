// An owner's rules in sentences, for the person who answers for them: what will be answered, to
// whom, for how much, and what that leaves.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "parley/charter/policy.h"

namespace parley::charter {

/// What the ledger says, by data set; what it does not name is untouched.
using SpentByDataset = std::map<std::string, privacy::Spent>;

std::string explain(const Policy& policy, const SpentByDataset& spent);

/// Why no rule of the policy accepts the charter, in one sentence; empty if one does.
std::string why_refused(const Policy& policy, const Charter& charter);

/// What this owner would do with one charter.
struct Preflight {
  std::string name{};
  Hash charter{};
  std::string learner{}, address{};
  size_t rule = 0;  // which accepts it, from 1; 0: none
  bool person = false, approved = false;
  std::string dataset{};
  uint64_t rows = 0;                             // that the charter names
  bool rows_counted = false;                     // and the data has
  uint64_t answers = 0, answered = 0;            // in all, and those that the ledger has already
  uint64_t numbers = 0;                          // in each answer
  privacy::Track track = privacy::Track::kPure;  // on which it is paid
  double price = 0, left = 0, left_after = 0;  // on that track: all answers; now; when all is paid
  std::vector<Error> obstacles{};              // none: it would run

  bool runs() const { return obstacles.empty(); }
};

std::string explain(const Preflight& preflight);

}  // namespace parley::charter
