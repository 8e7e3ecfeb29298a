#include "parley/net/gossip_session.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "parley/protocol/trained_model.h"

namespace parley::net {
namespace {

constexpr std::chrono::milliseconds kTick{200};
constexpr std::chrono::seconds kRemind{1};          // when nothing new has come for so long
constexpr std::chrono::milliseconds kParting{500};  // for the last words to go out
constexpr char kAgain[] = "Nothing is lost: start again to go on from here.";

}  // namespace

GossipSession::GossipSession(const Setting& setting, protocol::GossipNode node, Journal journal)
    : setting_(setting),
      outboxes_(setting.job.owners.size()),
      node_(std::move(node)),
      journal_(std::move(journal)),
      book_(setting.options.receipts),
      kept_(node_.completed()) {}

Result<Hash> GossipSession::wait(const std::atomic<bool>& stop) {
  std::unique_lock lock(mutex_);
  TRY(go_on(with_ledger([&] {
    auto whispers = node_.start();
    setting_.options.on.stepped();
    return whispers;
  })));
  while (!failed_ && !stop && !node_.refused()) {
    if (node_.finished()) {
      if (!model_) TRY(write_model());
      if (node_.may_leave() || is_left_alone()) break;
    } else if (Steady::now() - progress_ > setting_.options.patience.absent) {
      return nobody_answers();
    }
    // Not since it was last heard: neighbours that only remind would keep it silent.
    if (Steady::now() - std::max(progress_, reminded_) > kRemind) remind();
    changed_.wait_for(lock, kTick);
  }
  if (failed_) return *failed_;
  const auto refused = node_.refused();
  if (!refused && !model_) return Error{Code::kUnavailable, "interrupted", kAgain};
  lock.unlock();
  std::this_thread::sleep_for(kParting);
  if (refused) return *refused;
  return *model_;
}

/// It has what it wants; so long it stays for neighbours that have not said they have.
bool GossipSession::is_left_alone() const {
  const std::chrono::seconds stay(setting_.job.network.deadline_s);
  return Steady::now() - std::max(heard_, finished_) > stay;
}

void GossipSession::remind() {
  reminded_ = Steady::now();
  tell(node_.remind());
}

Result<void> GossipSession::hear(size_t from, const Bytes& message) {
  const std::lock_guard lock(mutex_);
  heard_ = Steady::now();
  const size_t given = node_.given(), held = node_.held();
  auto whispers = with_ledger([&] {
    auto stepped = node_.step(from, message);
    setting_.options.on.stepped();
    return stepped;
  });
  if (!whispers && (node_.stopped() || whispers.error().code == Code::kFailed))
    fail_locked(whispers.error());
  if (!whispers) return whispers.error();
  if (node_.held() != held) progress_ = Steady::now();
  if (node_.given() != given)
    TRY(hold_back(heard_, setting_.options.patience.answer_after, setting_.context.stop));
  size_t sent = 0;
  for (const protocol::Whisper& each : *whispers) sent += each.message.size();
  setting_.options.on.exchanged(message.size(), sent, Steady::now() - heard_);
  return go_on(std::move(whispers));
}

Result<void> GossipSession::go_on(Result<std::vector<protocol::Whisper>> whispers) {
  if (!whispers) return fail_locked(whispers.error()), whispers.error();
  if (const auto kept = keep_journal(); !kept) return fail_locked(kept.error()), kept;
  tell(*std::move(whispers));
  with_ledger([&] { node_.rest(); });
  changed_.notify_all();
  return {};
}

/// In the file before anyone hears of it.
Result<void> GossipSession::keep_journal() {
  if (kept_ == node_.completed()) return {};
  for (; kept_ < node_.completed(); ++kept_)
    for (const wire::Entry& entry : node_.completed(kept_))
      journal_.append(entry.owner, entry.answer);
  TRY(journal_.flush());
  if (!std::exchange(receipts_kept_, true)) keep_receipts();  // Proof, if we are killed.
  return {};
}

void GossipSession::tell(std::vector<protocol::Whisper> whispers) {
  for (protocol::Whisper& each : whispers) outboxes_[each.to].put(std::move(each.message));
}

void GossipSession::connected(size_t neighbour, const std::string& how) {
  const std::lock_guard lock(mutex_);
  say({log::kAttends, name(neighbour) + " " + how});
  for (protocol::Whisper& each : node_.remind())
    if (each.to == neighbour) outboxes_[neighbour].put(std::move(each.message));
}

void GossipSession::fail(const Error& error) {
  const std::lock_guard lock(mutex_);
  fail_locked(error);
}

void GossipSession::fail_locked(const Error& error) {
  if (!failed_) failed_ = error;
  changed_.notify_all();
}

Result<void> GossipSession::write_model() {
  finished_ = Steady::now();
  const std::filesystem::path& out = setting_.options.out;
  const protocol::Trained trained = node_.learner().trained();
  const Hash transcript = TRY(journal_.publish(out / "transcript.pb.zst"));
  const learn::Training training{.started = journal_.started(),
                                 .transcript_sha256 = to_hex(transcript)};
  TRY(learn::write_model(out / "model.json",
                         protocol::trained_model(setting_.job, trained, training)));
  model_ = protocol::model_hash(trained.theta);
  say({log::kModel, "the model is " + (out / "model.json").string()});
  return {};
}

/// One at a time: other jobs of the household keep theirs in the same files.
void GossipSession::keep_receipts() {
  for (size_t i = 0; i < outboxes_.size(); ++i)
    if (const auto newest = node_.newest(i))
      if (const auto kept = with_ledger([&] { return book_.keep(name(i), *newest); }); !kept)
        say({log::kReceiptNotKept,
             "cannot keep the receipt of " + name(i) + ": " + describe(kept.error())});
}

Error GossipSession::nobody_answers() const {
  std::string missing;
  for (const std::string& each : node_.missing()) missing += (missing.empty() ? "" : ", ") + each;
  return {Code::kUnavailable,
          "no answer for " + std::to_string(setting_.options.patience.absent.count()) +
              " s; missing: " + missing,
          kAgain};
}

}  // namespace parley::net
