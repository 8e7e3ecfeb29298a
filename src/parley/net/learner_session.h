// One job at its learner's server: which owners are connected, what is due when, and what owners
// are told.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "parley/net/control/job_status.h"
#include "parley/net/journal/journal.h"
#include "parley/net/journal/receipts.h"
#include "parley/net/learner.h"
#include "parley/net/transport/server.h"
#include "parley/net/transport/sparse_log.h"

namespace parley::net {

/// Why the learner does not go on by itself: the first answers are paid, and nothing more is
/// before a person has said so.
Error question_of(const protocol::Learner& learner);

/// When a learner acts without a message: at regular times where it calls owners, and when a
/// round has taken as long as the charter allows.
class Times {
 public:
  Times(const charter::Charter& charter, const protocol::Pace& pace);

  std::chrono::milliseconds patience() const;
  bool is_call();
  /// Asked again and again: has this round taken as long since it was first asked about?
  bool is_up(uint64_t round);

 private:
  using Steady = std::chrono::steady_clock;
  std::chrono::seconds allowed_;
  std::optional<std::chrono::milliseconds> every_{};
  Steady::time_point call_{}, since_{};
  std::optional<uint64_t> round_{};
};

class LearnerSession {
 public:
  LearnerSession(const charter::Charter& charter, protocol::Learner& learner, Journal& journal,
                 const ReceiptBook& book, Server& host, const LearnerOptions& options,
                 JobStatus& status, const Log& log);

  /// Until the model is there, or the reason why it will not be. Either way every owner's newest
  /// receipt is kept. Nobody has been told of the end.
  Result<void> train(const std::atomic<bool>& stop);
  /// From the first question to the last answer.
  double seconds() const;
  /// To be called once all files of the job are on disk: tells every owner, also those that come
  /// back for it, how the job ended.
  Result<bool> say_farewell(const std::atomic<bool>& stop);

 private:
  using Steady = std::chrono::steady_clock;
  struct OwnerState {
    std::optional<ConnectionId> connection{};
    std::optional<Steady::time_point> due{};    // of its greeting or answer
    std::optional<Steady::time_point> heard{};  // since it arrived
    bool told = false;                          // has left after the end
  };
  /// Of one owner over all its streams, for people.
  struct Record {
    uint64_t answers = 0, lost = 0;
    std::chrono::duration<double> answering{};  // all timed answers together
    uint64_t timed = 0;
    std::optional<Steady::time_point> asked{};  // and not answered
  };

  Result<void> ask_until_done(const std::atomic<bool>& stop);
  void show_status();
  JobStatus::Owner status_of(size_t place) const;
  std::optional<double> seconds_left() const;
  Result<void> take(Event event);
  void admit(const Arrived& arrived);
  Result<size_t> place_of(const Identity& identity) const;
  Result<void> hear(const Said& said);
  Result<void> go_on(protocol::Step step);
  void send(std::vector<protocol::Outgoing> messages);
  void part(ConnectionId connection);
  void dismiss(size_t place, const Error& reason);
  void leave(size_t place);
  void dismiss_late();
  void say_check();
  void keep_receipts();
  Error nobody_comes() const;
  Error abandon(Error error);
  std::optional<size_t> seat_of(ConnectionId connection) const;
  const std::string& name(size_t place) const { return charter_.owners[place].name; }

  const charter::Charter& charter_;
  protocol::Learner& learner_;
  Journal& journal_;
  const ReceiptBook& book_;
  Server& host_;
  const LearnerOptions& options_;
  JobStatus& status_;
  Steady::time_point shows_{};
  const Log& log_;
  SparseLog sparse_log_;
  Times times_;
  std::vector<OwnerState> states_;
  std::vector<Record> records_;
  const uint64_t resumed_at_ = learner_.rounds_done();
  uint64_t shown_ = learner_.rounds_done();
  bool receipts_kept_ = shown_ > 0;
  bool said_ = learner_.guard().check().has_value();
  bool may_tell_ = false;  // the files are there
  std::vector<protocol::Outgoing> farewells_{};
  std::optional<Steady::time_point> first_question_{};
  Steady::time_point last_answer_ = Steady::now();
};

}  // namespace parley::net
