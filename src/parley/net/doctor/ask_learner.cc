#include "parley/net/doctor/ask_learner.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "parley/net/line.h"
#include "parley/net/prospect.h"
#include "parley/wire/stream.h"

namespace parley::net {
namespace {

/// Sets a flag after some time, unless it is gone by then.
class Alarm {
 public:
  explicit Alarm(std::chrono::milliseconds after) : thread_([this, after] { wait(after); }) {}
  ~Alarm() {
    {
      const std::lock_guard lock(mutex_);
      off_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  const std::atomic<bool>& rung() const { return rung_; }

 private:
  void wait(std::chrono::milliseconds after) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, after, [&] { return off_; })) rung_ = true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool off_ = false;
  std::atomic<bool> rung_ = false;
  std::thread thread_;  // Last: it uses all of the above.
};

/// The last round of this charter that the owner's ledger has answered.
Result<uint32_t> last_round(const charter::Policy& policy, const charter::Charter& charter) {
  const auto ledger = TRY(look_into_ledger(policy));
  int64_t last = 0;
  if (ledger)
    for (const ledger::Row& row : ledger->rows)
      if (row.charter == charter.hash) last = std::max(last, row.round);
  return static_cast<uint32_t>(last);
}

Result<void> greet(const Papers& papers, const Dial& dial, const Hash& charter, uint32_t last,
                   const std::atomic<bool>& stop) {
  Line line = TRY(Line::open(papers, dial, stop));
  wire::Stream stream(charter);
  TRY(line.write(stream.send(wire::Hello{wire::kVersion, last})));
  const Bytes reply = TRY(line.read());
  const auto message = TRY(stream.receive_to_owner(reply));
  if (std::holds_alternative<wire::Welcome>(message.body)) return {};
  return Error{Code::kIntegrity, "the learner answered a greeting with something else",
               "Does it run the same version of Parley?"};
}

}  // namespace

Result<void> ask_learner(const charter::Policy& policy, const charter::Charter& charter,
                         const Papers& papers, const std::string& address,
                         std::chrono::milliseconds patience) {
  const Dial dial = TRY(dial_for(policy, charter, address));
  const uint32_t last = TRY(last_round(policy, charter));
  const Alarm alarm(patience);
  const auto asked = greet(papers, dial, charter.hash, last, alarm.rung());
  if (alarm.rung())
    return Error{Code::kUnavailable, dial.address + " does not answer a greeting",
                 "Something listens there, but is it a learner of Parley?"};
  return asked;
}

}  // namespace parley::net
