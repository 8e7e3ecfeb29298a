#include "parley/net/learner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "parley/base/files.h"
#include "parley/net/control/metrics_server.h"
#include "parley/net/control/status_socket.h"
#include "parley/net/learner_session.h"
#include "parley/net/vertical.h"
#include "parley/protocol/trained_model.h"

namespace parley::net {
namespace {

constexpr char kManifest[] = "manifest.json";

/// Of an owner: one answer, and room for its receipt, or for the reason of a refusal.
size_t longest_message(size_t numbers) {
  return std::min(8 * numbers + 4096, wire::kMessageBytesMax);
}

/// Nobody else has anything to say to a learner.
std::vector<Identity> owners_of(const charter::Charter& charter) {
  std::vector<Identity> owners;
  for (const charter::Owner& owner : charter.owners)
    owners.push_back({charter.consortium, "owner", owner.name});
  return owners;
}

/// The journal, and the learner as far as it goes.
Result<Journal> open_journal(const LearnerOptions& options, const Hash& charter, Clock& clock,
                             protocol::Learner& learner) {
  const auto file = options.out / "journal.pb";
  Journal journal = TRY(Journal::open(file, charter, clock.now()));
  const auto taken = journal.replay(
      [&](const wire::Entry& entry) { return learner.replay(entry.owner, entry.answer); },
      [&](const wire::Note& note) { return learner.replay(note); });
  if (taken) return journal;
  if (taken.error().code != Code::kIntegrity) return taken.error();
  return Error{
      Code::kIntegrity,
      "holds " + taken.error().what,
      "The journal was changed. Put it back; or, if the charter's questions follow from "
      "its answers, start again with another --out: owners replay what they have answered.",
      {.file = file.string()}};
}

/// Where owners keep the parts of a model, a manifest that is there has been told to some of them.
Result<void> take_manifest(const std::filesystem::path& file, protocol::Learner& learner) {
  if (!std::filesystem::is_regular_file(file)) return {};
  auto ended = learner.conclude(TRY(read_file(file)));
  if (ended) return {};
  Error error = ended.error();
  error.where.file = file.string();
  return error;
}

/// What the person has said goes to the journal, before anyone hears of it.
Result<void> decide(const LearnerOptions& options, protocol::Learner& learner, Journal& journal,
                    const Log& say) {
  if (!learner.guard().asks() && options.after_alarm && learner.rounds_done() == 0)
    return Error{Code::kInvalid, "there has been no alarm to decide about",
                 "Leave --after-alarm out; `parley learner run` takes it after an alarm."};
  if (!learner.guard().asks()) return {};
  if (!options.after_alarm) return question_of(learner);
  for (const wire::Note& note : learner.decide(*options.after_alarm).notes) journal.append(note);
  say({log::kAlarmDecided,
       std::string("after the alarm: ") + (*options.after_alarm ? "continue" : "stop")});
  return journal.flush();
}

/// Every owner will be shown its newest receipt from earlier jobs.
Result<void> remember_receipts(const ReceiptBook& book, protocol::Learner& learner) {
  for (size_t i = 0; i < learner.owners().size(); ++i) {
    const plan::PlannedOwner& owner = learner.owners()[i];
    if (!owner.sign_key) continue;
    auto newest = TRY(book.newest(owner.name, *owner.sign_key));
    if (newest) learner.remember(i, *std::move(newest));
  }
  return {};
}

LearnerResult result_of(const charter::Charter& charter, const protocol::Learner& learner,
                        const protocol::Trained& trained, const std::filesystem::path& out) {
  LearnerResult result{.charter_name = charter.name,
                       .charter = charter.hash,
                       .model = protocol::model_hash(trained.theta),
                       .rounds = learner.rounds_done(),
                       .evaluation = trained.evaluation,
                       .distance = trained.distance,
                       .pilot_check = trained.pilot,
                       .stopped_by_alarm = trained.stopped,
                       .model_file = out / (trained.manifest ? kManifest : "model.json"),
                       .transcript_file = out / "transcript.pb.zst"};
  for (size_t i = 0; i < trained.spent.size(); ++i)
    result.owners.push_back({charter.owners[i].name, trained.answers[i], trained.spent[i].epsilon,
                             trained.spent[i].evaluation});
  return result;
}

/// All files of a job that has come to its end. They are on disk when it returns.
Result<LearnerResult> write_result(const charter::Charter& charter,
                                   const protocol::Learner& learner, const Journal& journal,
                                   const LearnerOptions& options) {
  const protocol::Trained trained = learner.trained();
  LearnerResult result = result_of(charter, learner, trained, options.out);
  result.transcript = TRY(journal.publish(result.transcript_file));
  if (trained.manifest) {
    result.model = sha256(as_bytes(*trained.manifest));
    TRY(write_file(result.model_file, *trained.manifest));
    return result;
  }
  const learn::Training training{.started = journal.started(),
                                 .transcript_sha256 = to_hex(result.transcript)};
  TRY(learn::write_model(result.model_file, protocol::trained_model(charter, trained, training)));
  return result;
}

Result<std::optional<HttpServer>> metrics_of(const LearnerOptions& options,
                                             const DaemonFacts& facts, const JobStatus& status) {
  if (options.metrics.empty()) return std::optional<HttpServer>();
  return std::optional(TRY(serve_metrics(options.metrics, {.write =
                                                               [&](OpenMetrics& metrics) {
                                                                 facts.write(metrics);
                                                                 status.write(metrics);
                                                               },
                                                           .obstacles =
                                                               [&] {
                                                                 std::vector<std::string> all{
                                                                     facts.about_certificate(),
                                                                     status.about_owners()};
                                                                 std::erase(all, "");
                                                                 return all;
                                                               }})));
}

}  // namespace

Result<LearnerResult> run_learner(const charter::Charter& charter, protocol::Learner& learner,
                                  const LiveCredentials& credentials, const LearnerOptions& options,
                                  Clock& clock, const std::atomic<bool>& stop, const Log& log) {
  DaemonFacts facts("learner", credentials, options.out, clock);
  const Log say = [&](const LogLine& line) { facts.logged(line.event), log(line); };
  const ReceiptBook book(options.receipts);
  TRY(remember_receipts(book, learner));
  for (const auto& folder : {options.out, options.receipts}) remove_leftovers(folder);
  Journal journal = TRY(open_journal(options, charter.hash, clock, learner));
  TRY(take_manifest(options.out / kManifest, learner));
  TRY(decide(options, learner, journal, say));
  JobStatus status(charter, learner.rounds(), clock.now());
  const auto metrics = TRY(metrics_of(options, facts, status));
  const Door door{.address = options.listen,
                  .longest = longest_message(learner.numbers()),
                  .expected = owners_of(charter)};
  const auto host = TRY(Server::listen(door, credentials, say));
  options.opened(host->port());
  options.progress(learner.rounds_done());
  const auto asked =
      StatusSocket::open(options.out / kStatusSocket, [&] { return status.to_json(); });
  if (!asked) say({log::kNoStatus, "nobody can ask for the status: " + describe(asked.error())});
  LearnerSession session(charter, learner, journal, book, *host, options, status, say);
  TRY(session.train(stop));
  LearnerResult result = TRY(write_result(charter, learner, journal, options));
  result.seconds = session.seconds();
  if (TRY(session.say_farewell(stop))) forget_dealer_key(options.out);
  return result;
}

}  // namespace parley::net
