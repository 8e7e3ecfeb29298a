// An owner in a job: its records behind the gate, its ledger, and the connection to the learner.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "parley/base/entropy.h"
#include "parley/base/stop.h"
#include "parley/charter/policy.h"
#include "parley/ledger/ledger.h"
#include "parley/net/transport/client.h"
#include "parley/net/transport/ticks.h"
#include "parley/net/transport/transport.h"
#include "parley/protocol/owner.h"

namespace parley::net {

/// Where the policy keeps its ledger.
std::filesystem::path ledger_of(const charter::Policy& policy);

/// The ledger as the policy keeps it: its witness, and checkpoints by the owner's key, if it has
/// one. `reconciling` opens an older copy, too.
Result<ledger::Ledger> open_ledger(const charter::Policy& policy, Clock& clock,
                                   bool reconciling = false);

/// Where a data set's records lie.
Result<ledger::DataSource> data_source(const charter::Policy& policy, const charter::Dataset& data);

/// The owner's own key for receipts, which must be the one that the charter names.
Result<SigningKey> signing_key(const charter::Policy& policy, const charter::Charter& charter);

/// What an owner brings to every job. The ledger is for one thread at a time.
struct OwnerContext {
  const charter::Policy& policy;
  ledger::Ledger& ledger;
  Entropy& entropy;
  std::mutex& mutex;
  Stop stop{};  // ends what needs long: nothing is paid after that
};

/// A charter that the policy accepts, and the owner's rows for it, read and counted.
struct Ready {
  charter::Charter charter;            // with its bundle
  std::vector<charter::Charter> jobs;  // in which this owner answers (plan/learner/jobs.h)
  const charter::Dataset* data = nullptr;
  std::optional<gate::Records> records;  // none of an owner of columns, whose gate reads them
  SigningKey key;
  std::shared_ptr<const data::Rows> pilot{};    // public; read for rule "distance" only
  std::optional<gate::EngineRecords> engine{};  // instead of records that are here

  gate::AnyRecords any_records() const {
    return engine ? gate::AnyRecords(*engine) : gate::AnyRecords(*records);
  }
};

/// Nothing is spent by it.
Result<Ready> get_ready(const charter::Policy& policy, charter::Charter charter, Clock& clock,
                        Stop stop = {});

/// Some rules let a charter run only after a person has read it: kPolicy while nobody has.
Result<void> check_approved(const OwnerContext& context, const charter::Charter& charter);

/// The records behind a gate, for one of the charter's jobs: approved where the policy asks for a
/// person, the budget enough to the end. Nothing has been spent.
Result<gate::Gate> open_gate(const OwnerContext& context, const Ready& ready,
                             const charter::Charter& job);
Result<std::unique_ptr<protocol::Owner>> open_owner(const OwnerContext& context, const Ready& ready,
                                                    const charter::Charter& job);

/// The clock by which this owner comes; none where it is asked.
std::unique_ptr<Ticks> ticks_for(const protocol::Owner& owner, const charter::Policy& policy,
                                 const charter::Charter& charter);

/// How long to try.
struct Patience {
  std::chrono::seconds absent{600};   // without a connection
  std::chrono::seconds silent{600};   // with one, on which nothing is said
  std::chrono::seconds farewell{10};  // likewise, when there is nothing left to answer
  std::chrono::milliseconds first_pause{100}, longest_pause{10'000};
  /// Replies leave at multiples of this after their question, so that how long the pass over the
  /// records took is not seen; 0: at once.
  std::chrono::milliseconds answer_after{0};
};

/// Callbacks: what an owner does in a job.
struct OnAttend {
  /// It has taken a message; the ledger is still the caller's.
  std::function<void()> stepped = [] {};
  /// So many bytes came, so many went (none: no reply), and so long it took as the other side sees.
  std::function<void(size_t received, size_t sent, std::chrono::duration<double> took)> exchanged =
      [](size_t, size_t, std::chrono::duration<double>) {};
};

/// Until the next of the public moments at which a reply to a question heard at `heard_at` may
/// leave; kUnavailable, where it must not leave because somebody wants to stop before that.
Result<void> hold_back(std::chrono::steady_clock::time_point heard_at,
                       std::chrono::milliseconds every, Stop stop);

/// Attends the job until the learner says farewell, and speaks when `ticks`, if there are any, say
/// so; returns the hash of the model, or nothing where
/// every answer was given and the learner has gone without a farewell. Dials again whenever the
/// line breaks, for the ledger gives what has been paid for. A learner that is not the charter's,
/// an abort, a ledger that fails: an error.
Result<std::optional<Hash>> attend(protocol::Owner& owner, Ticks* ticks, std::mutex& mutex,
                                   const LiveCredentials& credentials, const Dial& dial,
                                   const Patience& patience, const std::atomic<bool>& stop,
                                   const Log& log, const OnAttend& on = {});

}  // namespace parley::net
