// One owner's part of a job without a central learner: the state machine behind a mutex, its
// journal, and a queue of messages for every neighbour. The threads of the streams pass in what
// they receive and send what is in the queues (net/neighbours.cc).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "parley/net/journal/journal.h"
#include "parley/net/journal/receipts.h"
#include "parley/net/neighbours.h"
#include "parley/net/transport/outbox.h"
#include "parley/protocol/peers/gossip.h"

namespace parley::net {

class GossipSession {
 public:
  struct Setting {
    const OwnerContext& context;
    const charter::Charter& job;  // as one central learner would run it
    const NeighbourOptions& options;
    const Log& log;
  };
  /// The node has taken what is in the journal.
  GossipSession(const Setting& setting, protocol::GossipNode node, Journal journal);

  /// Until the model is there and nobody needs this owner any more, or the reason why it will not
  /// be. The streams should end then.
  Result<Hash> wait(const std::atomic<bool>& stop);
  void keep_receipts();

  // For the threads of the streams.

  /// One message of a neighbour. An error ends its stream.
  Result<void> hear(size_t from, const Bytes& message);
  /// A stream has opened, after its box: what was lost with the one before is asked for again.
  void connected(size_t neighbour, const std::string& how);
  Outbox& outbox(size_t neighbour) { return outboxes_[neighbour]; }
  /// Ends the job for this owner.
  void fail(const Error& error);
  void say(const LogLine& line) { setting_.log(line); }
  const std::string& name(size_t place) const { return setting_.job.owners[place].name; }

 private:
  using Steady = std::chrono::steady_clock;
  Result<void> go_on(Result<std::vector<protocol::Whisper>> whispers);
  void tell(std::vector<protocol::Whisper> whispers);
  void remind();
  bool is_left_alone() const;
  Result<void> keep_journal();
  Result<void> write_model();
  Error nobody_answers() const;
  void fail_locked(const Error& error);
  template <class Work>
  auto with_ledger(const Work& work) {
    const std::lock_guard lock(setting_.context.mutex);
    return work();
  }

  Setting setting_;
  std::deque<Outbox> outboxes_;  // by place
  std::mutex mutex_;             // of all that follows
  protocol::GossipNode node_;
  Journal journal_;
  ReceiptBook book_;
  std::condition_variable changed_;
  size_t kept_ = 0;  // rounds in the journal
  bool receipts_kept_ = false;
  std::optional<Error> failed_{};
  std::optional<Hash> model_{};
  Steady::time_point heard_ = Steady::now(), progress_ = heard_, reminded_ = heard_, finished_{};
};

}  // namespace parley::net
