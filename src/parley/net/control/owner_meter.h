// The counters of an owner's daemon for monitoring: budgets, answers, refusals, bytes. The ledger,
// a receipt or the learner has every one of these figures, too.
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/charter/policy.h"
#include "parley/explain.h"
#include "parley/ledger/ledger.h"
#include "parley/net/control/open_metrics.h"

namespace parley::net {

/// For any thread.
class OwnerMeter {
 public:
  /// A job that begins, one of so many of its charter, and what they cost in all.
  void begins(const std::string& charter, const Hash& job, size_t jobs, const Preflight& all);
  /// This owner has replied in a job; `took` is from question to reply, as the learner sees it.
  void exchanged(const Hash& job, size_t received, size_t sent, std::chrono::duration<double> took);
  /// Looks at the ledger, which is the caller's; `job` has just taken a message.
  void look(const charter::Policy& policy, const ledger::Ledger& ledger, const Hash* job = nullptr);
  /// A job, or a charter that never became one, has ended.
  void ended(const Hash& job, const Result<std::optional<Hash>>& how);

  void write(OpenMetrics& metrics) const;
  bool is_older_copy() const;  // the ledger

  /// Of some jobs together, since this process began.
  struct Traffic {
    uint64_t received = 0, sent = 0;             // bytes, without TLS
    std::optional<double> seconds_per_answer{};  // once there are two
  };
  Traffic traffic(const std::vector<Hash>& jobs) const;

 private:
  static constexpr std::array<double, 4> kSeconds{0.1, 1, 10, 60};
  struct Job {
    std::string charter{}, dataset{};
    Track track = Track::kPure;
    double price = 0;  // of the whole job
    uint32_t answers = 0, round = 0;
    uint64_t paid = 0, received = 0, sent = 0;
    std::array<double, kSeconds.size() + 1> took{};
    std::chrono::steady_clock::time_point first{}, last{};  // answers that were paid for
    bool under_way = true;
  };
  struct Account {
    privacy::Spent spent{};
    privacy::Budget budget{};
  };
  static void has_paid(Job& job);
  double reserved(const std::string& dataset, Track track) const;
  void write_budgets(OpenMetrics& metrics) const;
  void write_jobs(OpenMetrics& metrics) const;

  mutable std::mutex mutex_{};
  std::map<std::string, Account> accounts_{};  // by data set
  std::map<Hash, Job> jobs_{};
  std::map<Code, uint64_t> refusals_{};
  bool older_copy_ = false;
};

}  // namespace parley::net
