// An owner's side of jobs over the network: the only process that reads its records, and the only
// one that can say yes.
//
//   const auto policy = parley::Policy::read("/etc/parley/policy.toml");
//   if (!policy) return 1;
//   const auto jobs = parley::run_owner(*policy, {.charters = {"loans.charter.toml"}});
//   if (!jobs) return 1;
//   for (const parley::OwnerJob& job : *jobs)
//     std::cout << job.charter_name << (job.model ? " answered" : " ended early") << "\n";
//
// Every answer is noisy, is within the policy's lifetime budget, and is written to the ledger with
// its price before it leaves. An answer that was lost on the way is sent again, the same bytes, for
// nothing.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "parley/bytes.h"
#include "parley/charter.h"
#include "parley/policy.h"
#include "parley/progress.h"
#include "parley/result.h"

namespace parley {

/// How one job ended.
struct OwnerJob {
  std::filesystem::path file;
  std::string charter_name;  // empty if it could not be read
  Hash charter{};
  std::string learner;  // whose job; empty: nobody's, or it did not come so far
  /// Hash of the final model; nothing if every answer was given and the learner left without a
  /// farewell; or why the job ended early.
  Result<std::optional<Hash>> model;
};

struct OwnerOptions {
  std::vector<std::filesystem::path> charters{};  // empty: those in the policy's folder, watched
  std::string dial{};              // host:port; empty: the policy's or the charter's address
  std::string listen{};            // where owners talk to each other; empty: the policy's
  std::string learner{};           // where every owner learns: answer this one only
  std::chrono::seconds wait{600};  // without a connection
  OnLog log{};
  std::stop_token stop{};
};

/// Given charters: takes part in their jobs until all have ended. Without: in those of every
/// charter that is put into the policy's folder, until a stop is requested. Each job has a thread
/// of its own, and all share the policy's ledger, which one process may open at a time (kFailed).
/// The error is of what concerns all jobs: credentials, ledger, folder. What ended one job is in
/// its OwnerJob::model.
Result<std::vector<OwnerJob>> run_owner(const Policy& policy, const OwnerOptions& options);

/// Notes that a person has read this charter and wants to take part, for rules of the policy that
/// ask for a person. `by` is who, without spaces. kPolicy if no rule allows the charter at all.
Result<void> approve(const Policy& policy, const Charter& charter, const std::string& by,
                     const std::string& reason = "");

}  // namespace parley
