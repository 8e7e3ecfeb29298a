// What an owner would do with a charter, before it does anything: which rule accepts it, what it
// costs, what is left afterwards, and everything that stands in the way.
//
//   const auto found = parley::preflight(policy, charter);
//   if (!found) return 1;
//   std::cout << found->explain();
//   for (const parley::Error& obstacle : found->obstacles) std::cout << obstacle.hint << "\n";
//
// Charters and policies explain themselves: Charter::explain, Policy::explain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "parley/bytes.h"
#include "parley/charter.h"
#include "parley/ledger.h"
#include "parley/policy.h"
#include "parley/result.h"

namespace parley {

/// What this owner would do with one charter.
struct Preflight {
  std::string name{};
  Hash charter{};
  std::string learner{}, address{};
  size_t rule = 0;  // which accepts it, from 1; 0: none
  bool person = false, approved = false;
  std::string dataset{};
  uint64_t rows = 0;                           // that the charter names
  bool rows_counted = false;                   // and the data has
  uint64_t answers = 0, answered = 0;          // in all, and those that the ledger has already
  uint64_t numbers = 0;                        // in each answer
  Track track = Track::kPure;                  // on which it is paid
  double price = 0, left = 0, left_after = 0;  // on that track: all answers; now; when all is paid
  std::string noise{};             // of what would be paid, in a sentence, where it decides the use
  std::vector<Error> obstacles{};  // none: it would run

  bool runs() const { return obstacles.empty(); }

  std::string explain() const;  // in sentences
  std::string to_json() const;
};

struct PreflightOptions {
  std::string dial{};     // host:port, in place of the policy's or the charter's address
  bool read_data = true;  // to count the rows, which may take long
};

/// Asks everything that run_owner asks, without the ledger's lock, a charge or a connection; works
/// while the daemon runs. Reads the owner's records if told to, and shows nothing of them but
/// whether they are as many as the charter says. Obstacles are part of the result; an error is of
/// the ledger itself (kIntegrity, kFailed).
Result<Preflight> preflight(const Policy& policy, const Charter& charter,
                            const PreflightOptions& options = {});

}  // namespace parley
