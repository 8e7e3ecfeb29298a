// A person's decision about a charter: approved, refused or withdrawn. It is recorded in the
// ledger. While another process holds the ledger, a file beside the charters stands in for it:
// HASH.approved, HASH.refused or HASH.withdrawn.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "parley/charter/policy.h"
#include "parley/ledger/events.h"
#include "parley/ledger/ledger.h"
#include "parley/net/owner.h"

namespace parley::net {

std::filesystem::path word_file(const charter::Policy& policy, const charter::Charter& charter,
                                ledger::Decision::What what);
/// The decision in such a file, unsigned.
Result<ledger::Decision> read_word(const std::filesystem::path& file, ledger::Decision::What what);
/// Leaves a decision in a file for the process that has the ledger. An approval removes a refusal
/// that no process has recorded yet. kPolicy if the policy has nothing to do with the charter.
Result<void> leave_word(const charter::Policy& policy, const charter::Charter& charter,
                        const ledger::Decision& decision);

/// Records in the ledger a person's decision about a charter and every job of it; a refusal also
/// removes the file by which it was approved before. kPolicy if the policy has nothing to do with
/// the charter.
Result<void> decide(const charter::Policy& policy, const charter::Charter& charter,
                    ledger::Ledger& ledger, const ledger::Decision& decision);

/// A refusal that was left in a file and is not in the ledger yet.
std::optional<ledger::Decision> left_no(const charter::Policy& policy,
                                        const charter::Charter& charter);
/// Records such a refusal in the ledger, after which nothing is paid, and removes its file.
Result<void> heed_no(const charter::Policy& policy, const charter::Charter& charter,
                     ledger::Ledger& ledger);

/// Records every refusal of some charters soon after it was left, for a process that has the ledger
/// and runs their jobs: the next question of such a job is refused.
class NoWatch {
 public:
  /// `heard` is called with the charter of every refusal that was recorded.
  NoWatch(Log log, std::function<void(const Hash&)> heard);
  /// The context, which must outlive it, is that of the charter's jobs.
  void add(const OwnerContext& context, const charter::Charter& charter);

 private:
  void look_on(const std::stop_token& over);
  void look_at(const OwnerContext& context, const charter::Charter& charter);

  struct Watched {
    const OwnerContext* context;
    charter::Charter charter;
  };
  Log log_;
  std::function<void(const Hash&)> heard_;
  std::mutex mutex_{};
  std::map<Hash, Watched> charters_{};
  std::string said_{};
  std::condition_variable_any over_{};
  std::jthread thread_;  // Last: it uses all of the above.
};

/// Leaves a refusal in a file and waits, up to five seconds, until it is in the ledger: recorded
/// here, or by the process that has the ledger, which looks for it while it runs a job of this
/// charter. An Error says why it is not there yet; it will be before anything more is paid.
Result<std::optional<Error>> say_no(const charter::Policy& policy, const charter::Charter& charter,
                                    const ledger::Decision& decision, Clock& clock);

/// Tells the learner of a job that will not be attended why: a person has refused it. Tried once.
Result<void> tell_learner(const LiveCredentials& credentials, const Dial& dial, const Hash& job,
                          uint32_t last_round, const Error& refused, const std::atomic<bool>& stop);

}  // namespace parley::net
