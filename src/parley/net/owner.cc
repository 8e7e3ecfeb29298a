#include "parley/net/owner.h"

#include <algorithm>
#include <sstream>
#include <thread>
#include <utility>

#include "parley/base/files.h"
#include "parley/charter/available.h"
#include "parley/gate/terms.h"
#include "parley/learn/source/source.h"
#include "parley/net/sharing.h"
#include "parley/protocol/async.h"
#include "parley/protocol/federated/owner.h"
#include "parley/protocol/learner_kind.h"
#include "parley/protocol/make_learner.h"
#include "parley/protocol/sync.h"

namespace parley::net {
namespace {

Result<size_t> place_in(const charter::Charter& charter, const std::string& name) {
  for (size_t i = 0; i < charter.owners.size(); ++i)
    if (charter.owners[i].name == name) return i;
  return Error{Code::kPolicy, name + " is not an owner of this charter",
               "Use the policy of an owner that the charter names."};
}

/// Who approved, and when.
struct Approval {
  std::string at, by;
};

/// Some rules let a charter run only after a person has read it. Nothing where none is needed, or
/// where the ledger has it already.
Result<std::optional<Approval>> approval_for(const Household& household,
                                             const charter::Charter& charter) {
  const charter::Accept* rule = household.policy.first_match(charter);
  if (rule == nullptr || !rule->person) return std::optional<Approval>();
  {
    const std::lock_guard lock(household.mutex);
    if (household.ledger.is_approved(charter.hash)) return std::optional<Approval>();
  }
  const auto file = household.policy.approval_of(charter);
  if (!std::filesystem::exists(file))
    return Error{Code::kPolicy, "this charter waits for a person",
                 "Read it with `parley charter explain`, then type: parley owner approve POLICY "
                 "CHARTER"};
  std::istringstream words(TRY(read_file(file)));
  Approval approval{"unknown", "unknown"};
  words >> approval.at >> approval.by;
  return std::optional(approval);
}

/// Broken off and worth another try, or over?
bool is_passing(const Error& error) { return error.code == Code::kUnavailable; }

/// The learner asked for what it must not. The job is over, but not the stream before the learner
/// has read why: then it ends it, or says something that no longer matters.
Error part_after(const Error& refused, Line& line, const Log& log) {
  log("refused the learner's question: " + refused.what);
  static_cast<void>(bool(line.read()));
  return {refused.code, "refused the learner's question: " + refused.what, refused.hint};
}

/// Until the next of the public moments at which a reply to a question heard at `heard_at` may
/// leave.
void hold_back(std::chrono::steady_clock::time_point heard_at, std::chrono::milliseconds every) {
  if (every.count() == 0) return;
  const auto passed = std::chrono::steady_clock::now() - heard_at;
  std::this_thread::sleep_until(heard_at + (passed / every + 1) * every);
}

/// What the learner says next. Until then the clock ticks, and the owner may speak.
Result<Bytes> next_message(protocol::Owner& owner, Ticks* ticks, std::mutex& mutex, Line& line) {
  if (ticks == nullptr) return line.read();
  for (;;) {
    auto message = TRY(line.read_until(ticks->next()));
    if (message) return *std::move(message);
    ticks->restart(ticks->next());
    std::unique_lock lock(mutex);
    const auto claim = owner.tick();
    lock.unlock();
    if (claim) TRY(line.write(*claim));
  }
}

/// One stream from greeting to farewell.
Result<Hash> attend_once(protocol::Owner& owner, Ticks* ticks, std::mutex& mutex, Line& line,
                         std::chrono::milliseconds answer_after, bool& heard, const Log& log) {
  const auto locked = [&](auto&& work) {
    const std::lock_guard lock(mutex);
    return work();
  };
  TRY(line.write(locked([&] { return owner.connect(); })));
  while (!owner.finished()) {
    const auto free_at = std::chrono::steady_clock::now();
    if (ticks && ticks->next() < free_at) ticks->restart(free_at);  // It ticked while we were busy.
    const Bytes message = TRY(next_message(owner, ticks, mutex, line));
    heard = true;
    const auto heard_at = std::chrono::steady_clock::now();
    const auto reply = TRY(locked([&] { return owner.step(message); }));
    if (reply) hold_back(heard_at, answer_after);
    if (reply) TRY(line.write(*reply));
    while (const auto more = locked([&] { return owner.more(); })) TRY(line.write(*more));
    if (owner.refused()) return part_after(*owner.refused(), line, log);
    locked([&] { owner.rest(); });
  }
  return *owner.finished();
}

}  // namespace

std::filesystem::path ledger_of(const charter::Policy& policy) {
  return policy.folder / policy.state / "ledger.db";
}

Result<SigningKey> signing_key(const charter::Policy& policy, const charter::Charter& charter) {
  const charter::Owner& us = charter.owners[TRY(place_in(charter, policy.owner))];
  if (!policy.identity || policy.identity->sign_key.empty())
    return Error{Code::kInvalid,
                 "the policy names no key to sign receipts with",
                 "Add sign_key to [identity]: the .sign file that `parley join` made.",
                 {.key = "identity.sign_key"}};
  const auto& file = policy.identity->sign_key;
  auto key = SigningKey::from_pem(TRY(read_secret(file)));
  if (!key) {
    Error error = key.error();
    error.where.file = file.string();
    return error;
  }
  if (us.sign_key != key->public_key())
    return Error{Code::kInvalid,
                 "the charter names another key for " + policy.owner + "'s receipts",
                 "The charter should say sign_key = \"" + to_text(key->public_key()) + "\".",
                 {.file = file.string(), .key = "owner.sign_key"}};
  return key;
}

std::unique_ptr<Ticks> ticks_for(const charter::Policy& policy, const charter::Charter& charter) {
  if (charter.protocol.name != charter::ProtocolName::kAsync) return nullptr;
  for (const charter::Owner& owner : charter.owners)
    if (owner.name == policy.owner) return std::make_unique<PoissonTicks>(owner.rate);
  return nullptr;
}

Result<std::unique_ptr<protocol::Owner>> open_owner(const Household& household,
                                                    charter::Charter charter) {
  const charter::Policy& policy = household.policy;
  const size_t place = TRY(place_in(charter, policy.owner));
  using enum charter::ProtocolName;
  const bool async = charter.protocol.name == kAsync;
  const bool federated = charter.protocol.name == kFederated;
  const bool sharing = protocol::has_dealer(charter);
  if (!async && !federated && !sharing && charter.protocol.name != kSync)
    return charter::not_available("protocol.name", name_of(charter.protocol.name),
                                  "Use \"sync\", \"async\" or \"federated\".");
  TRY(protocol::check_learner(charter));
  const charter::Dataset* data = TRY(policy.dataset_for(charter));
  const auto approval = TRY(approval_for(household, charter));
  SigningKey key = TRY(signing_key(policy, charter));
  if (sharing)
    return open_sharing_owner(household, charter, place, *data, std::move(key),
                              [&](ledger::DatasetId dataset) -> Result<void> {
                                if (!approval) return {};
                                return household.ledger.approve(dataset, charter.hash, approval->by,
                                                                approval->at);
                              });
  const std::filesystem::path folders[] = {charter.folder, policy.folder};
  TRY(charter::load_bundle(charter, folders));  // First: it makes the features.
  std::optional<gate::Terms> terms;
  if (!federated) terms = TRY(gate::terms_for(charter, place));
  const learn::Source source = TRY(charter::source_of(policy, *data, charter));
  auto loaded = TRY(learn::load_any(source, charter.schema));
  gate::Records records(std::move(loaded.rows));
  const std::lock_guard lock(household.mutex);
  const auto dataset =
      TRY(household.ledger.declare(data->name, data->budget, charter.privacy.unit));
  if (approval) TRY(household.ledger.approve(dataset, charter.hash, approval->by, approval->at));
  using Made = std::unique_ptr<protocol::Owner>;
  const auto threads = static_cast<int>(policy.threads);
  if (federated)
    return protocol::open_federated(charter, place, std::move(records), household.ledger, dataset,
                                    std::move(key), household.entropy, threads);
  auto gate = TRY(gate::Gate::open(std::move(records), *std::move(terms), household.ledger, dataset,
                                   household.entropy, threads));
  if (async)
    return Made(std::make_unique<protocol::AsyncOwner>(
        charter.hash, policy.owner, charter.protocol.contact, std::move(gate), std::move(key)));
  return Made(std::make_unique<protocol::SyncOwner>(charter.hash, policy.owner, std::move(gate),
                                                    std::move(key)));
}

Result<std::optional<Hash>> attend(protocol::Owner& owner, Ticks* ticks, std::mutex& mutex,
                                   const Papers& papers, const Dial& dial, const Patience& patience,
                                   const std::atomic<bool>& stop, const Log& log) {
  using Clock = std::chrono::steady_clock;
  auto connected = Clock::now();
  auto pause = patience.first_pause;
  std::string said;  // The same trouble is logged once.
  for (;;) {
    bool heard = false;
    auto ended = [&]() -> Result<Hash> {
      Line line = TRY(Line::open(papers, dial, stop));
      return attend_once(owner, ticks, mutex, line, patience.answer_after, heard, log);
    }();
    if (ended) return std::optional(*ended);
    if (!is_passing(ended.error()) || stop) return ended.error();
    if (heard) connected = Clock::now(), pause = patience.first_pause;
    const auto absent = Clock::now() - connected;
    if (owner.gave_all() && absent > patience.farewell) return std::optional<Hash>();
    if (absent > patience.absent)
      return Error{Code::kUnavailable, ended.error().what,
                   "Ask `parley doctor` what is wrong; start again to go on from here."};
    if (ended.error().what != std::exchange(said, ended.error().what))
      log("waiting for " + dial.address + ": " + said);
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, patience.longest_pause);
  }
}

}  // namespace parley::net
