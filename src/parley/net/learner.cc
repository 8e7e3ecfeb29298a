#include "parley/net/learner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "parley/base/files.h"
#include "parley/net/journal.h"
#include "parley/net/receipts.h"
#include "parley/net/transport/server.h"
#include "parley/net/vertical.h"
#include "parley/plan/learner/pilot_check.h"
#include "parley/protocol/trained_model.h"

namespace parley::net {
namespace {

using Steady = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kLearnerTick{200};

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

struct Opened {
  Journal journal;
  std::string started;
};

/// The journal, and the learner as far as it goes.
Result<Opened> open_journal(const LearnerOptions& options, const Hash& charter, Clock& clock,
                            protocol::Learner& learner) {
  const auto file = options.out / "journal.pb";
  if (!options.resume) {
    const std::string started = clock.now();
    return Opened{TRY(Journal::create(file, charter, started)), started};
  }
  Journal::Resumed resumed = TRY(Journal::resume(file, charter));
  const auto taken = resumed.transcript.in_order(
      [&](const wire::Entry& entry) { return learner.replay(entry.owner, entry.answer); },
      [&](const wire::Note& note) { return learner.replay(note); });
  if (taken) return Opened{std::move(resumed.journal), std::move(resumed.transcript.started)};
  return Error{
      Code::kIntegrity,
      "holds " + taken.error().what,
      "The journal was changed. Put it back; or, if the charter's questions follow from "
      "its answers, start again with another --out: owners replay what they have answered.",
      {.file = file.string()}};
}

/// Why the learner does not go on by itself: the first answers are paid, and nothing more is
/// before a person has said so.
Error question_of(const protocol::Learner& learner) {
  return {Code::kPolicy, plan::to_text(*learner.guard().check()),
          "Nothing more is paid before you decide: `parley learner resume` with --after-alarm "
          "continue, or with --after-alarm stop, which ends the job with the pilot's model."};
}

/// What the person has said goes to the journal, before anyone hears of it.
Result<void> decide(const LearnerOptions& options, protocol::Learner& learner, Journal& journal,
                    const Log& log) {
  if (!learner.guard().asks()) return {};
  if (!options.after_alarm) return question_of(learner);
  for (const wire::Note& note : learner.decide(*options.after_alarm).notes) journal.append(note);
  log(std::string("after the alarm: ") + (*options.after_alarm ? "continue" : "stop"));
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

/// When a learner acts by itself, whoever speaks: at regular times where owners are called, and
/// when a round has taken as long as the charter allows.
class Times {
 public:
  Times(const charter::Charter& charter, const protocol::Pace& pace)
      : allowed_(charter.network.deadline_s) {
    if (!pace.calls) return;
    double rates = 0;
    for (const charter::Owner& owner : charter.owners) rates += owner.rate;
    const std::chrono::duration<double> quarter(.25 / rates);  // Few ticks find nothing called.
    every_ = std::max(kTwice, std::chrono::duration_cast<std::chrono::milliseconds>(quarter));
  }

  std::chrono::milliseconds patience() const {
    return every_ ? std::min(kLearnerTick, *every_) : kLearnerTick;
  }
  bool is_call() {
    if (!every_ || Steady::now() < call_) return false;
    call_ = Steady::now() + *every_;
    return true;
  }
  /// Asked again and again: has this round taken as long since it was first asked about?
  bool is_up(uint64_t round) {
    if (std::exchange(round_, round) != round) since_ = Steady::now();
    return Steady::now() - since_ > allowed_;
  }

 private:
  static constexpr std::chrono::milliseconds kTwice{5};  // between two calls, at least
  std::chrono::seconds allowed_;
  std::optional<std::chrono::milliseconds> every_{};
  Steady::time_point call_{}, since_{};
  std::optional<uint64_t> round_{};
};

/// One job at its door: who is connected, what is due when.
class Session {
 public:
  Session(const charter::Charter& charter, protocol::Learner& learner, Journal& journal,
          const ReceiptBook& book, Server& host, const LearnerOptions& options, const Log& log)
      : charter_(charter),
        learner_(learner),
        journal_(journal),
        book_(book),
        host_(host),
        options_(options),
        log_(log),
        times_(charter, learner.pace()),
        states_(charter.owners.size()) {}

  /// Until the model is there, or the reason why it will not be. Either way every owner's newest
  /// receipt is kept.
  Result<void> train(const std::atomic<bool>& stop) {
    const auto trained = ask_until_done(stop);
    keep_receipts();
    TRY(journal_.flush());  // The last step may have had nobody to tell.
    return trained;
  }

  double seconds() const {
    if (!first_question_) return 0;
    return std::chrono::duration<double>(last_answer_ - *first_question_).count();
  }

  /// Tells every owner, also those that come back for it, how the job ended.
  Result<void> say_farewell(const std::atomic<bool>& stop) {
    const auto until = Steady::now() + std::chrono::seconds(charter_.network.deadline_s);
    const auto told = [&] {
      return std::all_of(states_.begin(), states_.end(),
                         [](const OwnerState& state) { return state.told; });
    };
    while (!told() && !stop && Steady::now() < until) TRY(take(host_.next(kLearnerTick)));
    return {};
  }

 private:
  struct OwnerState {
    std::optional<ConnectionId> connection{};
    std::optional<Steady::time_point> due{};  // of its greeting or answer
    bool told = false;                        // has left after the end
  };

  Result<void> ask_until_done(const std::atomic<bool>& stop) {
    while (!learner_.finished()) {
      if (stop) return Error{Code::kUnavailable, "interrupted", resume_hint()};
      if (Steady::now() - last_answer_ > options_.wait) return nobody_comes();
      TRY(take(host_.next(times_.patience())));
      if (learner_.refused()) return abandon(*learner_.refused());
      if (learner_.guard().asks()) return abandon(question_of(learner_));
      if (times_.is_call()) send(learner_.call());
      if (first_question_ && (times_.is_up(learner_.stage()) || learner_.is_ready()))
        TRY(go_on(learner_.time_is_up()));
      say_check();
      dismiss_late();
    }
    return {};
  }

  /// The test of the pilot, once.
  void say_check() {
    const auto& check = learner_.guard().check();
    if (check && !std::exchange(said_, true)) log_(plan::to_text(*check));
  }

  void keep_receipts() {
    for (size_t i = 0; i < states_.size(); ++i)
      if (const auto newest = learner_.newest(i))
        if (const auto kept = book_.keep(name(i), *newest); !kept)
          log_("cannot keep the receipt of " + name(i) + ": " + describe(kept.error()));
  }

  Result<void> take(Event event) {
    if (auto* arrived = std::get_if<Arrived>(&event)) admit(*arrived);
    if (auto* said = std::get_if<Said>(&event)) return hear(*said);
    if (auto* left = std::get_if<Left>(&event)) part(left->connection);
    return {};
  }

  void admit(const Arrived& arrived) {
    const auto place = place_of(arrived.identity);
    if (!place) return host_.turn_away(arrived.connection, arrived.identity.uri(), place.error());
    OwnerState& state = states_[*place];
    const bool again = state.connection.has_value();
    if (again)
      host_.dismiss(*state.connection,
                    {Code::kUnavailable, "a newer stream of the same owner took over"});
    state.connection = arrived.connection;
    state.due = Steady::now() + options_.greeting;
    learner_.attend(*place);
    log_(name(*place) + " attends from " + arrived.address +
         (again ? ", in place of its older stream" : ""));
  }

  Result<size_t> place_of(const Identity& identity) const {
    for (size_t i = 0; i < states_.size(); ++i)
      if (identity == Identity{charter_.consortium, "owner", name(i)}) return i;
    return Error{
        Code::kPolicy,
        identity.uri() + " is not an owner of charter " + to_hex(charter_.hash).substr(0, 12),
        "Ask whoever wrote the charter."};
  }

  /// One message of an owner. Only a journal that cannot be written is an error here.
  Result<void> hear(const Said& said) {
    const auto place = seat_of(said.connection);
    if (!place) return {};
    auto step = learner_.step(*place, said.message);
    if (!step) {
      log_("refused " + name(*place) + ": " + step.error().what);
      dismiss(*place, step.error());
      return {};
    }
    states_[*place].due.reset();
    if (step->stale) log_(name(*place) + " is shown its receipt: " + step->stale->what);
    if (step->taken) {
      journal_.append(name(*place), *step->taken);
      last_answer_ = Steady::now();
    }
    TRY(go_on(*std::move(step)));
    if (learner_.pace().at_any_time) host_.hear_on(said.connection);
    return {};
  }

  /// What a step led to. Notes are in the journal before anyone hears of them; answers need not be,
  /// for whoever gave one gives it again.
  Result<void> go_on(protocol::Step step) {
    const bool anyone_hears = !step.messages.empty();
    for (const wire::Note& note : step.notes) journal_.append(note);
    if (!step.notes.empty()) TRY(journal_.flush());
    send(std::move(step.messages));
    if (anyone_hears) TRY(journal_.flush());
    if (learner_.rounds_done() == shown_) return {};
    if (!std::exchange(receipts_kept_, true))
      keep_receipts();  // Proof of this job, if we are killed.
    options_.progress(shown_ = learner_.rounds_done());
    return {};
  }

  void send(std::vector<protocol::Outgoing> messages) {
    for (protocol::Outgoing& out : messages) {
      OwnerState& state = states_[out.owner];
      host_.send(*state.connection, std::move(out.message));
      if (!first_question_) first_question_ = Steady::now();
      if (learner_.awaits(out.owner))
        state.due = Steady::now() + std::chrono::seconds(charter_.network.deadline_s);
    }
  }

  void part(ConnectionId connection) {
    const auto place = seat_of(connection);
    if (!place) return;
    leave(*place);
    states_[*place].told = learner_.finished();
    if (!learner_.finished()) log_(name(*place) + " left");
  }

  void dismiss(size_t place, const Error& reason) {
    host_.dismiss(*states_[place].connection, reason);
    leave(place);
  }

  void leave(size_t place) {
    learner_.leave(place);
    states_[place].connection.reset();
    states_[place].due.reset();
  }

  /// An owner that hangs loses its stream; it may come back, and is asked the same again.
  void dismiss_late() {
    for (size_t i = 0; i < states_.size(); ++i) {
      if (!states_[i].due || Steady::now() < *states_[i].due) continue;
      const Error late{Code::kUnavailable, "nothing came within the time that the charter allows"};
      log_("dismissed " + name(i) + ": " + late.what);
      dismiss(i, late);
    }
  }

  Error nobody_comes() const {
    std::string missing;
    for (size_t i = 0; i < states_.size(); ++i)
      if (learner_.awaits(i)) missing += (missing.empty() ? "" : ", ") + name(i);
    return {Code::kUnavailable,
            "no answer for " + std::to_string(options_.wait.count()) + " s" +
                (missing.empty() ? "" : "; missing: " + missing),
            resume_hint()};
  }

  /// Ends every stream with the reason; whoever comes later finds nobody.
  Error abandon(Error error) {
    for (size_t i = 0; i < states_.size(); ++i)
      if (states_[i].connection) dismiss(i, error);
    for (int ticks = 0; ticks < 3; ++ticks) host_.next(kLearnerTick);  // The last words go out.
    if (error.hint.empty()) error.hint = resume_hint();
    return error;
  }

  std::string resume_hint() const { return "Nothing is lost: go on with `parley learner resume`."; }
  std::optional<size_t> seat_of(ConnectionId connection) const {
    for (size_t i = 0; i < states_.size(); ++i)
      if (states_[i].connection == connection) return i;
    return std::nullopt;
  }
  const std::string& name(size_t place) const { return charter_.owners[place].name; }

  const charter::Charter& charter_;
  protocol::Learner& learner_;
  Journal& journal_;
  const ReceiptBook& book_;
  Server& host_;
  const LearnerOptions& options_;
  const Log& log_;
  Times times_;
  std::vector<OwnerState> states_;
  uint64_t shown_ = learner_.rounds_done();
  bool receipts_kept_ = shown_ > 0;
  bool said_ = learner_.guard().check().has_value();
  std::optional<Steady::time_point> first_question_{};
  Steady::time_point last_answer_ = Steady::now();
};

}  // namespace

Result<LearnerResult> run_learner(const charter::Charter& charter, protocol::Learner& learner,
                                  const Credentials& credentials, const LearnerOptions& options,
                                  Clock& clock, const std::atomic<bool>& stop, const Log& log) {
  const ReceiptBook book(options.receipts);
  TRY(remember_receipts(book, learner));
  Opened opened = TRY(open_journal(options, charter.hash, clock, learner));
  TRY(decide(options, learner, opened.journal, log));
  const Door door{.address = options.listen,
                  .longest = longest_message(learner.numbers()),
                  .expected = owners_of(charter)};
  const auto host = TRY(Server::listen(door, credentials, log));
  options.opened(host->port());
  options.progress(learner.rounds_done());
  Session session(charter, learner, opened.journal, book, *host, options, log);
  TRY(session.train(stop));

  const protocol::Trained trained = learner.trained();
  LearnerResult result{.charter_name = charter.name,
                       .charter = charter.hash,
                       .model = protocol::model_hash(trained.theta),
                       .rounds = learner.rounds_done(),
                       .seconds = session.seconds(),
                       .evaluation = trained.evaluation,
                       .distance = trained.distance,
                       .pilot_check = trained.pilot,
                       .stopped_by_alarm = trained.stopped,
                       .model_file = options.out / "model.json",
                       .transcript_file = options.out / "transcript.pb.zst"};
  for (size_t i = 0; i < trained.spent.size(); ++i)
    result.owners.push_back({charter.owners[i].name, trained.answers[i], trained.spent[i].epsilon,
                             trained.spent[i].evaluation});
  result.transcript = TRY(opened.journal.publish(result.transcript_file));
  if (trained.manifest) {
    result.model = sha256(as_bytes(*trained.manifest));
    result.model_file = options.out / "manifest.json";
    TRY(write_file(result.model_file, *trained.manifest));
    TRY(session.say_farewell(stop));
    forget_dealer_key(options.out);
    return result;
  }
  TRY(learn::write_model(result.model_file, protocol::trained_model(
                                                charter, trained,
                                                {.started = opened.started,
                                                 .transcript_sha256 = to_hex(result.transcript)})));
  TRY(session.say_farewell(stop));
  return result;
}

}  // namespace parley::net
