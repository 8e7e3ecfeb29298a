#include "parley/net/decisions.h"

#include <chrono>
#include <sstream>
#include <thread>
#include <utility>

#include "parley/base/files.h"
#include "parley/net/identity/identity.h"
#include "parley/plan/learner/jobs.h"

namespace parley::net {
namespace {

namespace fs = std::filesystem;
using charter::Charter, charter::Policy;
using ledger::Decision;
using What = Decision::What;
using Steady = std::chrono::steady_clock;

constexpr std::chrono::seconds kTakenWithin{5};
constexpr std::chrono::milliseconds kTakenTick{50}, kLookForNo{250};
constexpr char kUnknown[] = "unknown";  // Later than any time, if texts are compared.
constexpr What kNo[] = {What::kRefused, What::kWithdrawn};

void remove_file(const fs::path& file) {
  std::error_code ignored;
  fs::remove(file, ignored);
}

bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

/// Not one that was given after this word.
void remove_approval(const Policy& policy, const Charter& charter, const Decision& no) {
  const fs::path file = policy.approval_of(charter);
  const auto approval = read_word(file, What::kApproved);
  if (!approval || approval->at <= no.at) remove_file(file);
}

}  // namespace

fs::path word_file(const Policy& policy, const Charter& charter, What what) {
  return policy.approval_of(charter).replace_extension(name_of(what));
}

Result<Decision> read_word(const fs::path& file, What what) {
  std::istringstream words(TRY(read_file(file)));
  Decision decision{.what = what, .by = kUnknown, .at = kUnknown};
  words >> decision.at >> decision.by >> std::ws;
  std::getline(words, decision.reason);
  return decision;
}

Result<void> leave_word(const Policy& policy, const Charter& charter, const Decision& decision) {
  TRY(policy.dataset_for(charter));
  if (decision.reason.find('\n') != std::string::npos)
    return Error{Code::kInvalid, "the reason is not one line of text",
                 "Leave out its line breaks."};
  const fs::path file = word_file(policy, charter, decision.what);
  TRY(make_directories(file.parent_path()));
  if (decision.what == What::kApproved)
    for (const What no : kNo) remove_file(word_file(policy, charter, no));
  const std::string reason = decision.reason.empty() ? "" : " " + decision.reason;
  return write_file(file, decision.at + " " + decision.by + reason + "\n");
}

Result<void> decide(const Policy& policy, const Charter& charter, ledger::Ledger& ledger,
                    const Decision& decision) {
  const charter::Dataset& data = *TRY(policy.dataset_for(charter));
  const auto charged = ledger.dataset_of(charter.hash);
  const auto id = charged ? *charged : TRY(ledger.declare(data.name, data.budget, ""));
  Decision word = decision;
  if (policy.identity && !policy.identity->sign_key.empty())
    word.signature = TRY(SigningKey::from_pem(TRY(read_secret(policy.identity->sign_key))))
                         .sign(ledger::decision_bytes(policy.owner, charter.hash, word.what));
  TRY(ledger.decide(id, charter.hash, word));
  for (const Charter& job : TRY(plan::jobs_asking(charter, policy.owner)))
    TRY(ledger.decide(id, job.hash, word));
  if (word.what != What::kApproved) remove_approval(policy, charter, word);
  return {};
}

std::optional<Decision> left_no(const Policy& policy, const Charter& charter) {
  for (const What what : kNo) {
    const fs::path file = word_file(policy, charter, what);
    if (!is_there(file)) continue;
    if (auto word = read_word(file, what)) return *std::move(word);
    if (is_there(file)) return Decision{.what = what, .by = kUnknown, .at = kUnknown};
  }
  return std::nullopt;
}

Result<void> heed_no(const Policy& policy, const Charter& charter, ledger::Ledger& ledger) {
  while (const auto no = left_no(policy, charter)) {
    TRY(decide(policy, charter, ledger, *no));
    const fs::path file = word_file(policy, charter, no->what);
    std::error_code failed;
    if (fs::remove(file, failed) || !failed) continue;
    return Error{Code::kFailed,
                 "cannot be removed: " + failed.message(),
                 "It is in the ledger: remove it by hand.",
                 {.file = file.string()}};
  }
  return {};
}

NoWatch::NoWatch(Log log, std::function<void(const Hash&)> heard)
    : log_(std::move(log)),
      heard_(std::move(heard)),
      thread_([this](const std::stop_token& over) { look_on(over); }) {}

void NoWatch::add(const OwnerContext& context, const Charter& charter) {
  const std::lock_guard lock(mutex_);
  charters_.insert_or_assign(charter.hash, Watched{&context, charter});
}

void NoWatch::look_on(const std::stop_token& over) {
  std::unique_lock lock(mutex_);
  while (!over.stop_requested()) {
    for (const auto& [hash, watched] : charters_) look_at(*watched.context, watched.charter);
    over_.wait_for(lock, over, kLookForNo, [] { return false; });
  }
}

void NoWatch::look_at(const OwnerContext& context, const Charter& charter) {
  const auto no = left_no(context.policy, charter);
  if (!no) return;
  const std::lock_guard ledger(context.mutex);
  const auto heeded = heed_no(context.policy, charter, context.ledger);
  if (heeded) heard_(charter.hash);
  const std::string what =
      heeded ? std::string(name_of(no->what)) + " by " + no->by : describe(heeded.error());
  if (what != std::exchange(said_, heeded ? "" : what)) log_({log::kDecided, what, charter.name});
}

Result<void> tell_learner(const LiveCredentials& credentials, const Dial& dial, const Hash& job,
                          uint32_t last_round, const Error& refused,
                          const std::atomic<bool>& stop) {
  Client line = TRY(Client::open(credentials, dial, stop));
  wire::Stream stream(job);
  TRY(line.write(stream.send(wire::Hello{wire::kVersion, last_round})));
  if (!TRY(line.read_until(Steady::now() + kTakenWithin)))  // its welcome
    return Error{Code::kUnavailable, "the learner says nothing"};
  TRY(line.write(stream.send(wire::Refusal{refused.code, refused.what})));
  // It ends the stream once it has read why.
  static_cast<void>(bool(line.read_until(Steady::now() + kTakenWithin)));
  return {};
}

Result<std::optional<Error>> say_no(const Policy& policy, const Charter& charter,
                                    const Decision& decision, Clock& clock) {
  TRY(leave_word(policy, charter, decision));
  const auto until = Steady::now() + kTakenWithin;
  for (;; std::this_thread::sleep_for(kTakenTick)) {
    if (!left_no(policy, charter)) return std::optional<Error>();
    auto ledger = open_ledger(policy, clock);
    if (ledger) TRY(heed_no(policy, charter, *ledger));
    if (ledger) return std::optional<Error>();
    if (ledger.error().code != Code::kFailed) return ledger.error();
    if (Steady::now() >= until) return std::optional(ledger.error());
  }
}

}  // namespace parley::net
