#include "parley/net/doctor/ask_learner.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "parley/net/doctor/preflight.h"
#include "parley/net/transport/client.h"
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

/// Whether the ledger has all that the learner holds receipts of.
Result<void> compare(const wire::Welcome& welcome, const std::optional<ledger::Contents>& ledger,
                     uint32_t last) {
  bool older = welcome.next_round > last + 1;
  for (const wire::Proof& proof : welcome.proofs)
    older = older || !ledger || !ledger->knows(proof.receipt.chain);
  if (!older) return {};
  return Error{Code::kIntegrity, "the learner holds receipts that this ledger does not know",
               "The ledger is an older copy. Put the newest one back, or type: parley ledger "
               "reconcile POLICY TRANSCRIPT"};
}

Result<void> greet(const Credentials& credentials, const Dial& dial, const Hash& charter,
                   const std::optional<ledger::Contents>& ledger, const std::atomic<bool>& stop) {
  const uint32_t last = ledger ? ledger->chain.last_round(charter) : 0;
  Client line = TRY(Client::open(credentials, dial, stop));
  wire::Stream stream(charter);
  TRY(line.write(stream.send(wire::Hello{wire::kVersion, last})));
  const Bytes reply = TRY(line.read());
  const auto message = TRY(stream.receive_to_owner(reply));
  if (const auto* welcome = std::get_if<wire::Welcome>(&message.body))
    return compare(*welcome, ledger, last);
  return Error{Code::kIntegrity, "the learner answered a greeting with something else",
               "Does it run the same version of Parley?"};
}

}  // namespace

Result<void> ask_learner(const charter::Policy& policy, const charter::Charter& charter,
                         const Credentials& credentials, const std::string& address,
                         std::chrono::milliseconds patience) {
  const Dial dial = TRY(dial_for(policy, charter, charter, address));
  const auto ledger = TRY(look_into_ledger(policy));
  const Alarm alarm(patience);
  const auto asked = greet(credentials, dial, charter.hash, ledger, alarm.rung());
  if (alarm.rung())
    return Error{Code::kUnavailable, address + " does not answer a greeting",
                 "Something listens there, but is it a learner of Parley?"};
  return asked;
}

}  // namespace parley::net
