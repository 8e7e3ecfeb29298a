#include "parley/net/learner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "parley/net/host.h"
#include "parley/net/journal.h"
#include "parley/net/receipts.h"
#include "parley/protocol/trained_model.h"

namespace parley::net {
namespace {

using Steady = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kTick{200};

/// Of an owner: one answer, and room for its receipt, or for the reason of a refusal.
size_t longest_message(size_t numbers) {
  return std::min(8 * numbers + 4096, wire::kMessageBytesMax);
}

struct Opened {
  Journal journal;
  std::string started;
};

/// The journal, and the learner as far as it goes.
Result<Opened> open_journal(const LearnerOptions& options, const Hash& charter, Clock& clock,
                            protocol::SyncLearner& learner) {
  const auto file = options.out / "journal.pb";
  if (!options.resume) {
    const std::string started = clock.now();
    return Opened{TRY(Journal::create(file, charter, started)), started};
  }
  Journal::Resumed resumed = TRY(Journal::resume(file, charter));
  for (wire::Entry& entry : resumed.entries) {
    const auto taken = learner.replay(entry.owner, entry.answer);
    if (!taken)
      return Error{Code::kIntegrity,
                   "holds " + taken.error().what,
                   "The journal was changed. Start again with another --out: owners replay what "
                   "they have answered.",
                   {.file = file.string()}};
  }
  return Opened{std::move(resumed.journal), std::move(resumed.started)};
}

/// Every owner will be shown its newest receipt from earlier jobs.
Result<void> remember_receipts(const ReceiptBook& book, const protocol::SyncPlan& plan,
                               protocol::SyncLearner& learner) {
  for (size_t i = 0; i < plan.owners.size(); ++i) {
    if (!plan.owners[i].sign_key) continue;
    auto newest = TRY(book.newest(plan.owners[i].name, *plan.owners[i].sign_key));
    if (newest) learner.remember(i, *std::move(newest));
  }
  return {};
}

/// One job at its door: who sits where, what is due when.
class Session {
 public:
  Session(const charter::Charter& charter, protocol::SyncLearner& learner, Journal& journal,
          const ReceiptBook& book, Host& host, const LearnerOptions& options, const Log& log)
      : charter_(charter),
        learner_(learner),
        journal_(journal),
        book_(book),
        host_(host),
        options_(options),
        log_(log),
        seats_(charter.owners.size()) {}

  /// Until the model is there, or the reason why it will not be. Either way every owner's newest
  /// receipt is kept.
  Result<void> train(const std::atomic<bool>& stop) {
    const auto trained = ask_until_done(stop);
    keep_receipts();
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
      return std::all_of(seats_.begin(), seats_.end(), [](const Seat& seat) { return seat.told; });
    };
    while (!told() && !stop && Steady::now() < until) TRY(take(host_.next(kTick)));
    return {};
  }

 private:
  struct Seat {
    std::optional<Guest> guest{};
    std::optional<Steady::time_point> due{};  // of its greeting or answer
    bool told = false;                        // has left after the end
  };

  Result<void> ask_until_done(const std::atomic<bool>& stop) {
    while (!learner_.finished()) {
      if (stop) return Error{Code::kUnavailable, "interrupted", resume_hint()};
      if (Steady::now() - last_answer_ > options_.wait) return nobody_comes();
      TRY(take(host_.next(kTick)));
      if (learner_.refused()) return abandon(*learner_.refused());
      dismiss_late();
    }
    return {};
  }

  void keep_receipts() {
    for (size_t i = 0; i < seats_.size(); ++i)
      if (const auto newest = learner_.newest(i))
        if (const auto kept = book_.keep(name(i), *newest); !kept)
          log_("cannot keep the receipt of " + name(i) + ": " + describe(kept.error()));
  }

  Result<void> take(Event event) {
    if (auto* arrived = std::get_if<Arrived>(&event)) admit(*arrived);
    if (auto* said = std::get_if<Said>(&event)) return hear(*said);
    if (auto* left = std::get_if<Left>(&event)) part(left->guest);
    return {};
  }

  void admit(const Arrived& arrived) {
    const auto place = place_of(arrived.identity);
    if (!place) {
      log_("refused " + arrived.identity.uri() + ": " + place.error().what);
      return host_.dismiss(arrived.guest, place.error());
    }
    Seat& seat = seats_[*place];
    const bool again = seat.guest.has_value();
    if (again)
      host_.dismiss(*seat.guest,
                    {Code::kUnavailable, "a newer stream of the same owner took over"});
    seat.guest = arrived.guest;
    seat.due = Steady::now() + options_.greeting;
    learner_.attend(*place);
    log_(name(*place) + " attends from " + arrived.address +
         (again ? ", in place of its older stream" : ""));
  }

  Result<size_t> place_of(const Identity& identity) const {
    for (size_t i = 0; i < seats_.size(); ++i)
      if (identity == Identity{charter_.consortium, "owner", name(i)}) return i;
    return Error{
        Code::kPolicy,
        identity.uri() + " is not an owner of charter " + to_hex(charter_.hash).substr(0, 12),
        "Ask whoever wrote the charter."};
  }

  /// One message of an owner. Only a journal that cannot be written is an error here.
  Result<void> hear(const Said& said) {
    const auto place = seat_of(said.guest);
    if (!place) return {};
    const size_t before = learner_.rounds_done();
    auto step = learner_.step(*place, 0, said.message);
    if (!step) {
      log_("refused " + name(*place) + ": " + step.error().what);
      dismiss(*place, step.error());
      return {};
    }
    seats_[*place].due.reset();
    if (step->stale) log_(name(*place) + " is shown its receipt: " + step->stale->what);
    if (step->taken) {
      journal_.append(name(*place), *step->taken);
      last_answer_ = Steady::now();
    }
    if (!step->messages.empty()) TRY(journal_.flush());
    for (protocol::Outgoing& out : step->messages) {
      Seat& seat = seats_[out.owner];
      host_.send(*seat.guest, std::move(out.message));
      if (!first_question_) first_question_ = Steady::now();
      if (learner_.awaits(out.owner))
        seat.due = Steady::now() + std::chrono::seconds(charter_.network.deadline_s);
    }
    if (learner_.rounds_done() > before) {
      if (before == 0) keep_receipts();  // A learner that is killed later has proof of this job.
      options_.progress(learner_.rounds_done());
    }
    return {};
  }

  void part(Guest guest) {
    const auto place = seat_of(guest);
    if (!place) return;
    leave(*place);
    seats_[*place].told = learner_.finished();
    if (!learner_.finished()) log_(name(*place) + " left");
  }

  void dismiss(size_t place, const Error& reason) {
    host_.dismiss(*seats_[place].guest, reason);
    leave(place);
  }

  void leave(size_t place) {
    learner_.leave(place);
    seats_[place].guest.reset();
    seats_[place].due.reset();
  }

  /// An owner that hangs loses its stream; it may come back, and is asked the same again.
  void dismiss_late() {
    for (size_t i = 0; i < seats_.size(); ++i) {
      if (!seats_[i].due || Steady::now() < *seats_[i].due) continue;
      const Error late{Code::kUnavailable, "nothing came within the time that the charter allows"};
      log_("dismissed " + name(i) + ": " + late.what);
      dismiss(i, late);
    }
  }

  Error nobody_comes() const {
    std::string missing;
    for (size_t i = 0; i < seats_.size(); ++i)
      if (learner_.awaits(i)) missing += (missing.empty() ? "" : ", ") + name(i);
    return {Code::kUnavailable,
            "no answer for " + std::to_string(options_.wait.count()) + " s; missing: " + missing,
            resume_hint()};
  }

  /// Ends every stream with the reason; whoever comes later finds nobody.
  Error abandon(Error error) {
    for (size_t i = 0; i < seats_.size(); ++i)
      if (seats_[i].guest) dismiss(i, error);
    for (int ticks = 0; ticks < 3; ++ticks) host_.next(kTick);  // The last words go out.
    if (error.hint.empty()) error.hint = resume_hint();
    return error;
  }

  std::string resume_hint() const { return "Nothing is lost: go on with `parley learner resume`."; }
  std::optional<size_t> seat_of(Guest guest) const {
    for (size_t i = 0; i < seats_.size(); ++i)
      if (seats_[i].guest == guest) return i;
    return std::nullopt;
  }
  const std::string& name(size_t place) const { return charter_.owners[place].name; }

  const charter::Charter& charter_;
  protocol::SyncLearner& learner_;
  Journal& journal_;
  const ReceiptBook& book_;
  Host& host_;
  const LearnerOptions& options_;
  const Log& log_;
  std::vector<Seat> seats_;
  std::optional<Steady::time_point> first_question_{};
  Steady::time_point last_answer_ = Steady::now();
};

}  // namespace

Result<LearnerResult> run_learner(const charter::Charter& charter, protocol::SyncPlan plan,
                                  const Papers& papers, const LearnerOptions& options, Clock& clock,
                                  const std::atomic<bool>& stop, const Log& log) {
  const size_t longest = longest_message(plan.numbers());
  const ReceiptBook book(options.receipts);
  protocol::SyncLearner learner(plan);
  TRY(remember_receipts(book, plan, learner));
  Opened opened = TRY(open_journal(options, charter.hash, clock, learner));
  const auto host = TRY(Host::listen(options.listen, papers, longest, log));
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
                       .model_file = options.out / "model.json",
                       .transcript_file = options.out / "transcript.pb.zst"};
  for (size_t i = 0; i < trained.spent.size(); ++i)
    result.owners.push_back(
        {charter.owners[i].name, trained.spent[i].epsilon, trained.spent[i].evaluation});
  result.transcript = TRY(opened.journal.publish(result.transcript_file));
  TRY(learn::write_model(result.model_file, protocol::trained_model(
                                                charter, trained,
                                                {.started = opened.started,
                                                 .transcript_sha256 = to_hex(result.transcript)})));
  TRY(session.say_farewell(stop));
  return result;
}

}  // namespace parley::net
