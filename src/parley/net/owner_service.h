// What `parley owner run` does: attends the jobs of the charters it is given, or of every charter
// that is put into the policy's folder, each in a thread of its own over one ledger.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "parley/net/owner.h"
#include "parley/owner.h"

namespace parley::net {

struct ServiceOptions {
  std::vector<std::filesystem::path> charters{};  // empty: those in the policy's folder, watched
  std::string dial{};                             // empty: the policy's, or the charter's address
  std::string listen{};                           // of a graph; empty: as policy and charter say
  std::string learner{};  // of copies: answer this one only; empty: all that ask
  Patience patience{};
  std::filesystem::path policy_file{};            // read again when asked to; empty: never
  const std::atomic<uint32_t>* reload = nullptr;  // counts how often
  /// Once the ledger is ours, and before any job; an error ends it.
  std::function<Result<void>()> opened = [] { return Result<void>(); };
  std::function<void()> ready = [] {};  // once everything that all jobs need is there
  std::function<void()> alive = [] {};  // by the loop, again and again
};

using JobEnd = parley::OwnerJob;

/// Asked to read files again: the policy, for jobs that begin then, and every charter whose job has
/// not ended well. What a job needs to the end it has read at its beginning, certificates apart.
///
/// Given charters: until all have ended. Watching: until `stop`, for there may always be another.
Result<std::vector<JobEnd>> serve(const charter::Policy& policy, const ServiceOptions& options,
                                  Entropy& entropy, Clock& clock, const std::atomic<bool>& stop,
                                  const Log& log);

/// The policy's credentials, which must be those of its owner.
Result<Credentials> credentials_of(const charter::Policy& policy, Clock& clock);

/// Where to dial for one of the charter's jobs, and who must answer: the policy's address for this
/// learner, or for the only one, or the charter's.
Result<Dial> dial_for(const charter::Policy& policy, const charter::Charter& charter,
                      const charter::Charter& job, const std::string& instead);

}  // namespace parley::net
