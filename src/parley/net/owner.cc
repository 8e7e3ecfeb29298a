#include "parley/net/owner.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "parley/base/files.h"
#include "parley/data/sources/source.h"
#include "parley/gate/engine/open_engine.h"
#include "parley/net/decisions.h"
#include "parley/net/identity/members.h"
#include "parley/net/vertical.h"
#include "parley/plan/can_run.h"
#include "parley/plan/learner/jobs.h"
#include "parley/plan/learner/weights.h"
#include "parley/protocol/make_owner.h"

namespace parley::net {
namespace {

Result<size_t> place_in(const charter::Charter& charter, const std::string& name) {
  for (size_t i = 0; i < charter.owners.size(); ++i)
    if (charter.owners[i].name == name) return i;
  return Error{Code::kPolicy, name + " is not an owner of this charter",
               "Use the policy of an owner that the charter names."};
}

/// Some rules let a charter run only after a person has read it, and none once a person said no,
/// unless someone approves it after that. Nothing where no word is needed, or where the ledger has
/// it already.
Result<std::optional<ledger::Decision>> approval_for(const OwnerContext& context,
                                                     const charter::Charter& charter) {
  const charter::Accept* rule = context.policy.first_match(charter);
  if (rule == nullptr) return std::optional<ledger::Decision>();
  const std::lock_guard lock(context.mutex);
  TRY(heed_no(context.policy, charter, context.ledger));
  const auto allowed = context.ledger.is_allowed(charter.hash);
  if (allowed && (!rule->person || context.ledger.is_approved(charter.hash)))
    return std::optional<ledger::Decision>();
  if (const auto file = context.policy.approval_of(charter); std::filesystem::exists(file)) {
    auto approval = TRY(read_word(file, ledger::Decision::What::kApproved));
    if (allowed || approval.at >= context.ledger.decision(charter.hash)->at)
      return std::optional(std::move(approval));
  }
  if (!allowed) return allowed.error();
  return Error{Code::kPolicy, "this charter waits for a person",
               "Read it with `parley charter explain`, then type: parley owner approve POLICY "
               "CHARTER"};
}

/// Broken off and worth another try, or over?
bool is_passing(const Error& error) { return error.code == Code::kUnavailable; }

/// The learner asked for what it must not: for this owner the job is over.
Error refusal_of(const Error& refused) {
  return {refused.code, "refused the learner's question: " + refused.what, refused.hint};
}

/// But not the stream before the learner has read why: then it ends it, or says something that no
/// longer matters, or says nothing for so long that it does not matter either.
Error part_after(const Error& refused, Client& line, const Patience& patience, const Log& say) {
  say({log::kRefused, "refused the learner's question: " + refused.what});
  static_cast<void>(bool(line.read_until(std::chrono::steady_clock::now() + patience.farewell)));
  return refusal_of(refused);
}

/// What the learner says next. Until then the clock ticks, and the owner may speak.
Result<Bytes> next_message(protocol::Owner& owner, Ticks* ticks, std::mutex& mutex, Client& line) {
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

/// Until then, or until somebody wants to stop.
void sleep_until(std::chrono::steady_clock::time_point then, Stop stop) {
  constexpr std::chrono::milliseconds kTick{100};
  for (auto left = then - std::chrono::steady_clock::now(); left.count() > 0 && !stop.asked();
       left = then - std::chrono::steady_clock::now())
    std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(left, kTick));
}

/// Whether a learner that is there still asks for something new: one that repeats itself costs
/// nothing, and would hold the owner for ever. Time without a learner does not count.
class Novelty {
 public:
  using Clock = std::chrono::steady_clock;
  Novelty(const protocol::Owner& owner, std::chrono::milliseconds patience)
      : owner_(owner), patience_(patience), news_(owner.news()) {}

  /// After a message.
  Result<void> look() {
    if (std::exchange(news_, owner_.news()) != owner_.news()) since_ = Clock::now();
    over_ = patience_.count() > 0 && Clock::now() - since_ > patience_;
    if (!over_) return {};
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience_).count();
    return Error{Code::kUnavailable,
                 "the learner has asked nothing new for " + std::to_string(seconds) + " s"};
  }
  void was_alone(Clock::duration time) { since_ += time; }
  bool over() const { return over_; }

 private:
  const protocol::Owner& owner_;
  std::chrono::milliseconds patience_;
  size_t news_;
  Clock::time_point since_ = Clock::now();
  bool over_ = false;
};

/// One stream from greeting to farewell.
Result<Hash> attend_once(protocol::Owner& owner, Ticks* ticks, std::mutex& mutex, Client& line,
                         const Patience& patience, Novelty& novelty, bool& heard, Stop stop,
                         const Log& say, const OnAttend& on) {
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
    const auto reply = TRY(locked([&] {
      auto stepped = owner.step(message);
      on.stepped();
      return stepped;
    }));
    if (reply) TRY(hold_back(heard_at, patience.answer_after, stop));
    on.exchanged(message.size(), reply ? reply->size() : 0,
                 std::chrono::steady_clock::now() - heard_at);
    if (reply) TRY(line.write(*reply));
    while (const auto more = locked([&] { return owner.more(); })) TRY(line.write(*more));
    TRY(novelty.look());
    if (owner.refused()) return part_after(*owner.refused(), line, patience, say);
    locked([&] { owner.rest(); });
  }
  return *owner.finished();
}

}  // namespace

/// What is held back when somebody wants to stop does not leave: when it left, and whether it was
/// there, would tell how long the pass took. The ledger gives it again.
Result<void> hold_back(std::chrono::steady_clock::time_point heard_at,
                       std::chrono::milliseconds every, Stop stop) {
  if (every.count() == 0) return {};
  const auto passed = std::chrono::steady_clock::now() - heard_at;
  sleep_until(heard_at + (passed / every + 1) * every, stop);
  if (stop.asked())
    return Error{Code::kUnavailable, "interrupted",
                 "The answer is paid, and leaves after the next start, for nothing."};
  return {};
}

std::filesystem::path ledger_of(const charter::Policy& policy) {
  return policy.folder / policy.state / "ledger.db";
}

Result<ledger::Ledger> open_ledger(const charter::Policy& policy, Clock& clock, bool reconciling) {
  ledger::Keeping keeping{.reconciling = reconciling};
  if (!policy.witness.empty()) keeping.witness = policy.folder / policy.witness;
  if (policy.identity && !policy.identity->sign_key.empty())
    keeping.key = TRY(SigningKey::from_pem(TRY(read_secret(policy.identity->sign_key))));
  return ledger::Ledger::open(ledger_of(policy), policy.owner, clock, keeping);
}

Result<ledger::DataSource> data_source(const charter::Policy& policy,
                                       const charter::Dataset& data) {
  auto [is, digests] = TRY(charter::records_at(policy, data));
  return ledger::DataSource{std::move(is), std::move(digests)};
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

std::unique_ptr<Ticks> ticks_for(const protocol::Owner& owner, const charter::Policy& policy,
                                 const charter::Charter& charter) {
  if (!owner.has_clock()) return nullptr;
  for (const charter::Owner& each : charter.owners)
    if (each.name == policy.owner) return std::make_unique<PoissonTicks>(each.rate);
  return nullptr;
}

Result<Ready> get_ready(const charter::Policy& policy, charter::Charter charter, Clock& clock,
                        Stop stop) {
  TRY(place_in(charter, policy.owner));
  const bool columns = charter.columns_apart();
  const charter::Dataset* data = TRY(policy.dataset_for(charter));
  SigningKey key = TRY(signing_key(policy, charter));
  TRY(plan::every_sign_key(charter));
  TRY(check_members(*policy.identity, charter, policy.owner, clock));  // Which signing_key needed.
  const std::filesystem::path folders[] = {charter.folder, policy.folder};
  if (!columns) TRY(charter::load_bundle(charter, folders));  // First: it makes the features.
  auto jobs = TRY(plan::jobs_asking(charter, policy.owner));
  for (const charter::Charter& job : jobs) {
    TRY(plan::check_learner(job));
    TRY(plan::can_run(job, TRY(place_in(job, policy.owner))));
  }
  Ready ready{std::move(charter), std::move(jobs), data, {}, std::move(key)};
  if (ready.charter.protocol.distance())
    ready.pilot = TRY(charter::load_pilot(ready.charter, folders));
  if (columns) return ready;  // Its columns are read with the other owners' order of records.
  if (data->engine == charter::Engine::kSql) {
    ready.engine = TRY(gate::open_engine(policy, *data, ready.charter, stop));
    return ready;
  }
  const data::Source source = TRY(charter::source_of(policy, *data, ready.charter));
  auto loaded = TRY(data::load_any(source, ready.charter.schema));
  ready.records = gate::Records(std::move(loaded.rows));
  return ready;
}

Result<void> check_approved(const OwnerContext& context, const charter::Charter& charter) {
  TRY(context.policy.dataset_for(charter));  // What no rule allows, no person is asked about.
  TRY(approval_for(context, charter));
  return {};
}

namespace {

/// The data set that pays, and that a person has approved. The ledger is the caller's.
Result<ledger::DatasetId> account_for(const OwnerContext& context, const Ready& ready,
                                      const std::optional<ledger::Decision>& approval) {
  ledger::Ledger& ledger = context.ledger;
  const auto dataset =
      TRY(ledger.declare(ready.data->name, ready.data->budget, ready.charter.privacy.unit,
                         TRY(data_source(context.policy, *ready.data))));
  if (!approval) return dataset;
  ledger::Decision decision = *approval;
  decision.signature = ready.key.sign(
      ledger::decision_bytes(context.policy.owner, ready.charter.hash, decision.what));
  TRY(ledger.decide(dataset, ready.charter.hash, decision));
  for (const charter::Charter& job : ready.jobs)  // A no was said of each.
    if (!ledger.is_allowed(job.hash)) TRY(ledger.decide(dataset, job.hash, decision));
  return dataset;
}

/// Of a database that has counted them and was tried: before the ledger's lock is taken, since it
/// may need long.
Result<gate::AnyRecords> records_for(const Ready& ready, const charter::Charter& job,
                                     size_t place) {
  if (!ready.engine) return ready.any_records();
  return gate::AnyRecords(
      TRY(gate::EngineSum::tried(*ready.engine, TRY(plan::terms_for(job, place)))));
}

}  // namespace

Result<gate::Gate> open_gate(const OwnerContext& context, const Ready& ready,
                             const charter::Charter& job) {
  const auto approval = TRY(approval_for(context, ready.charter));
  const size_t place = TRY(place_in(job, context.policy.owner));
  plan::Terms terms = TRY(plan::terms_for(job, place));
  auto records = TRY(records_for(ready, job, place));
  const std::lock_guard lock(context.mutex);
  const auto dataset = TRY(account_for(context, ready, approval));
  return gate::Gate::open(std::move(records), std::move(terms), context.ledger, dataset,
                          context.entropy,
                          {static_cast<int>(context.policy.threads), context.stop});
}

Result<std::unique_ptr<protocol::Owner>> open_owner(const OwnerContext& context, const Ready& ready,
                                                    const charter::Charter& job) {
  const size_t place = TRY(place_in(job, context.policy.owner));
  const auto approval = TRY(approval_for(context, ready.charter));
  auto columns = TRY(own_columns(context.policy, ready, place));
  auto records =
      columns ? gate::AnyRecords(std::move(columns->records)) : TRY(records_for(ready, job, place));
  const std::lock_guard lock(context.mutex);
  const auto dataset = TRY(account_for(context, ready, approval));
  return protocol::make_owner(
      {.charter = job,
       .place = place,
       .records = std::move(records),
       .ledger = context.ledger,
       .dataset = dataset,
       .key = ready.key,
       .entropy = context.entropy,
       .threads = static_cast<int>(context.policy.threads),
       .pilot = ready.pilot.get(),
       .columns = columns ? std::move(columns->setting) : protocol::ColumnsSetting{},
       .stop = context.stop});
}

Result<std::optional<Hash>> attend(protocol::Owner& owner, Ticks* ticks, std::mutex& mutex,
                                   const LiveCredentials& credentials, const Dial& dial,
                                   const Patience& patience, const std::atomic<bool>& stop,
                                   const Log& say, const OnAttend& on) {
  using Clock = std::chrono::steady_clock;
  Dial patient = dial;
  patient.patience = patience.silent + (ticks ? ticks->longest_gap() : std::chrono::seconds(0));
  Novelty novelty(owner, patient.patience);
  auto connected = Clock::now();
  auto pause = patience.first_pause;
  std::string said;  // The same trouble is logged once.
  for (;;) {
    bool heard = false, mute = false;
    const auto began = Clock::now();
    auto ended = [&]() -> Result<Hash> {
      Client line = TRY(Client::open(credentials, patient, stop));
      auto model = attend_once(owner, ticks, mutex, line, patience, novelty, heard, stop, say, on);
      mute = line.has_given_up() || novelty.over();
      return model;
    }();
    if (ended && !owner.gave_all() && !owner.has_clock())
      say({log::kEndedBefore, "the learner ended the job before every answer was asked"});
    if (ended) return std::optional(*ended);
    if (!is_passing(ended.error()) || stop) return ended.error();
    // The reason did not get through: others had ended the job before.
    if (owner.refused()) return refusal_of(*owner.refused());
    if (heard) connected = Clock::now(), pause = patience.first_pause;
    const auto absent = Clock::now() - connected;
    if (owner.gave_all() && (mute || absent > patience.farewell)) return std::optional<Hash>();
    if (mute || absent > patience.absent)
      return Error{Code::kUnavailable, ended.error().what,
                   "Ask `parley doctor` what is wrong; start again to go on from here."};
    if (ended.error().what != std::exchange(said, ended.error().what))
      say({log::kWaiting, "waiting for " + to_text(dial.address) + ": " + said});
    sleep_until(Clock::now() + pause, stop);
    pause = std::min(2 * pause, patience.longest_pause);
    if (!heard) novelty.was_alone(Clock::now() - began);
  }
}

}  // namespace parley::net
