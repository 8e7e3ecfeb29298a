#include "parley/net/learner_session.h"

#include <algorithm>
#include <utility>

#include "parley/plan/learner/pilot_check.h"

namespace parley::net {
namespace {

constexpr std::chrono::milliseconds kLearnerTick{200};
constexpr std::chrono::milliseconds kBetweenCalls{5};  // at least
constexpr char kResume[] = "Nothing is lost: go on with the same `parley learner run`.";

}  // namespace

Error question_of(const protocol::Learner& learner) {
  return {Code::kPolicy, plan::to_text(*learner.guard().check()),
          "Nothing more is paid before you decide: `parley learner run` again with --after-alarm "
          "continue, or with --after-alarm stop, which ends the job with the pilot's model."};
}

Times::Times(const charter::Charter& charter, const protocol::Pace& pace)
    : allowed_(charter.network.deadline_s) {
  if (!pace.calls) return;
  double rates = 0;
  for (const charter::Owner& owner : charter.owners) rates += owner.rate;
  const std::chrono::duration<double> quarter(.25 / rates);  // Few ticks find nothing called.
  every_ = std::max(kBetweenCalls, std::chrono::duration_cast<std::chrono::milliseconds>(quarter));
}

std::chrono::milliseconds Times::patience() const {
  return every_ ? std::min(kLearnerTick, *every_) : kLearnerTick;
}

bool Times::is_call() {
  if (!every_ || Steady::now() < call_) return false;
  call_ = Steady::now() + *every_;
  return true;
}

bool Times::is_up(uint64_t round) {
  if (std::exchange(round_, round) != round) since_ = Steady::now();
  return Steady::now() - since_ > allowed_;
}

LearnerSession::LearnerSession(const charter::Charter& charter, protocol::Learner& learner,
                               Journal& journal, const ReceiptBook& book, Server& host,
                               const LearnerOptions& options, JobStatus& status, const Log& log)
    : charter_(charter),
      learner_(learner),
      journal_(journal),
      book_(book),
      host_(host),
      options_(options),
      status_(status),
      log_(log),
      sparse_log_(log, 4 * charter.owners.size()),
      times_(charter, learner.pace()),
      states_(charter.owners.size()),
      records_(charter.owners.size()) {}

Result<void> LearnerSession::train(const std::atomic<bool>& stop) {
  const auto trained = ask_until_done(stop);
  keep_receipts();
  TRY(journal_.flush());  // The last step may have had nobody to tell.
  return trained;
}

double LearnerSession::seconds() const {
  if (!first_question_) return 0;
  return std::chrono::duration<double>(last_answer_ - *first_question_).count();
}

Result<bool> LearnerSession::say_farewell(const std::atomic<bool>& stop) {
  may_tell_ = true;
  send(std::exchange(farewells_, {}));
  const auto until = Steady::now() + std::chrono::seconds(charter_.network.deadline_s);
  const auto told = [&] {
    return std::all_of(states_.begin(), states_.end(),
                       [](const OwnerState& state) { return state.told; });
  };
  for (; !told() && !stop && Steady::now() < until; show_status())
    TRY(take(host_.next(kLearnerTick)));
  return told();
}

Result<void> LearnerSession::ask_until_done(const std::atomic<bool>& stop) {
  while (!learner_.finished()) {
    if (stop) return Error{Code::kUnavailable, "interrupted", kResume};
    if (Steady::now() - last_answer_ > options_.wait) return nobody_comes();
    TRY(take(host_.next(times_.patience())));
    if (learner_.refused()) return abandon(*learner_.refused());
    if (learner_.guard().asks()) return abandon(question_of(learner_));
    if (times_.is_call()) send(learner_.call());
    if (first_question_ && (times_.is_up(learner_.stage()) || learner_.is_ready()))
      TRY(go_on(learner_.time_is_up()));
    say_check();
    dismiss_late();
    sparse_log_.tell();
    show_status();
  }
  return {};
}

void LearnerSession::show_status() {
  if (Steady::now() < shows_) return;
  shows_ = Steady::now() + kLearnerTick;
  JobStatus::Now now{.round = learner_.rounds_done(), .left_s = seconds_left()};
  for (size_t i = 0; i < states_.size(); ++i) now.owners.push_back(status_of(i));
  status_.set(std::move(now));
  options_.alive();
}

JobStatus::Owner LearnerSession::status_of(size_t place) const {
  const Record& record = records_[place];
  JobStatus::Owner owner{.attends = states_[place].connection.has_value(),
                         .answers = record.answers,
                         .lost = record.lost};
  if (record.timed > 0)
    owner.answer_s = record.answering.count() / static_cast<double>(record.timed);
  if (record.asked)
    owner.waiting_s = std::chrono::duration<double>(Steady::now() - *record.asked).count();
  return owner;
}

std::optional<double> LearnerSession::seconds_left() const {
  const uint64_t done = learner_.rounds_done() - resumed_at_;
  if (!first_question_ || done == 0) return std::nullopt;
  const std::chrono::duration<double> so_far = Steady::now() - *first_question_;
  return so_far.count() * static_cast<double>(learner_.rounds() - learner_.rounds_done()) /
         static_cast<double>(done);
}

/// The test of the pilot, once.
void LearnerSession::say_check() {
  const auto& check = learner_.guard().check();
  if (check && !std::exchange(said_, true)) log_({log::kPilotCheck, plan::to_text(*check)});
}

void LearnerSession::keep_receipts() {
  for (size_t i = 0; i < states_.size(); ++i)
    if (const auto newest = learner_.newest(i))
      if (const auto kept = book_.keep(name(i), *newest); !kept)
        log_({log::kReceiptNotKept,
              "cannot keep the receipt of " + name(i) + ": " + describe(kept.error())});
}

Result<void> LearnerSession::take(Event event) {
  if (auto* arrived = std::get_if<Arrived>(&event)) admit(*arrived);
  if (auto* said = std::get_if<Said>(&event)) return hear(*said);
  if (auto* left = std::get_if<Left>(&event)) part(left->connection);
  return {};
}

void LearnerSession::admit(const Arrived& arrived) {
  const auto place = place_of(arrived.identity);
  if (!place) return host_.turn_away(arrived.connection, arrived.identity.uri(), place.error());
  OwnerState& state = states_[*place];
  const bool again = state.connection.has_value();
  if (again && is_at_work(state.heard, options_.takeover))
    return host_.turn_away(arrived.connection, arrived.identity.uri() + " at " + arrived.address,
                           other_is_at_work());
  if (again) host_.dismiss(*state.connection, newer_took_over());
  if (again) ++records_[*place].lost, records_[*place].asked.reset();
  state = {.connection = arrived.connection, .due = Steady::now() + options_.greeting};
  learner_.attend(*place);
  sparse_log_.say("attends " + name(*place),
                  {log::kAttends, name(*place) + " attends from " + arrived.address +
                                      (again ? ", in place of its older stream" : "")});
}

Result<size_t> LearnerSession::place_of(const Identity& identity) const {
  for (size_t i = 0; i < states_.size(); ++i)
    if (identity == Identity{charter_.consortium, "owner", name(i)}) return i;
  return Error{
      Code::kPolicy,
      identity.uri() + " is not an owner of charter " + to_hex(charter_.hash).substr(0, 12),
      "Ask whoever wrote the charter."};
}

/// One message of an owner. Only a journal that cannot be written is an error here.
Result<void> LearnerSession::hear(const Said& said) {
  const auto place = seat_of(said.connection);
  if (!place) return {};
  status_.received(said.message.size());
  auto step = learner_.step(*place, said.message);
  if (!step) {
    status_.refused(step.error().code);
    sparse_log_.say("refused " + name(*place),
                    {log::kRefused, "refused " + name(*place) + ": " + step.error().what});
    dismiss(*place, step.error());
    return {};
  }
  states_[*place].due.reset();
  states_[*place].heard = Steady::now();
  if (step->stale)
    log_({log::kStaleLedger, name(*place) + " is shown its receipt: " + step->stale->what});
  if (step->taken) {
    journal_.append(name(*place), *step->taken);
    last_answer_ = Steady::now();
    Record& record = records_[*place];
    ++record.answers;
    if (record.asked) record.answering += last_answer_ - *record.asked, ++record.timed;
    record.asked.reset();
  }
  if (step->parted) {
    status_.refused(step->parted->code);
    log_({log::kParted, step->parted->what + "; the job goes on without it"});
    dismiss(*place, *step->parted);
  }
  TRY(go_on(*std::move(step)));
  if (learner_.pace().at_any_time) host_.hear_on(said.connection);
  return {};
}

/// What a step led to. Notes are in the journal before anyone hears of them; answers need not be,
/// for whoever gave one gives it again. Nobody is told of the end before all files are there.
Result<void> LearnerSession::go_on(protocol::Step step) {
  const bool anyone_hears = !step.messages.empty();
  for (const wire::Note& note : step.notes) journal_.append(note);
  if (!step.notes.empty()) TRY(journal_.flush());
  if (learner_.finished() && !may_tell_)
    for (protocol::Outgoing& each : step.messages) farewells_.push_back(std::move(each));
  else
    send(std::move(step.messages));
  if (anyone_hears) TRY(journal_.flush());
  if (learner_.rounds_done() == shown_) return {};
  if (!std::exchange(receipts_kept_, true))
    keep_receipts();  // Proof of this job, if we are killed.
  options_.progress(shown_ = learner_.rounds_done());
  return {};
}

void LearnerSession::send(std::vector<protocol::Outgoing> messages) {
  for (protocol::Outgoing& out : messages) {
    OwnerState& state = states_[out.owner];
    if (!state.connection) continue;
    status_.sent(out.message.size());
    host_.send(*state.connection, std::move(out.message));
    if (!first_question_) first_question_ = Steady::now();
    if (!learner_.awaits(out.owner)) continue;
    state.due = Steady::now() + std::chrono::seconds(charter_.network.deadline_s);
    records_[out.owner].asked = Steady::now();
  }
}

void LearnerSession::part(ConnectionId connection) {
  const auto place = seat_of(connection);
  if (!place) return;
  leave(*place);
  states_[*place].told = learner_.finished();
  if (!learner_.finished())
    sparse_log_.say("left " + name(*place), {log::kLeft, name(*place) + " left"});
}

void LearnerSession::dismiss(size_t place, const Error& reason) {
  host_.dismiss(*states_[place].connection, reason);
  leave(place);
}

void LearnerSession::leave(size_t place) {
  learner_.leave(place);
  records_[place].asked.reset();
  if (!learner_.finished()) ++records_[place].lost;
  states_[place].connection.reset();
  states_[place].due.reset();
}

/// An owner that hangs loses its stream; it may come back, and is asked the same again.
void LearnerSession::dismiss_late() {
  for (size_t i = 0; i < states_.size(); ++i) {
    if (!states_[i].due || Steady::now() < *states_[i].due) continue;
    const Error late{Code::kUnavailable, "nothing came within the time that the charter allows"};
    sparse_log_.say("dismissed " + name(i),
                    {log::kDismissed, "dismissed " + name(i) + ": " + late.what});
    dismiss(i, late);
  }
}

Error LearnerSession::nobody_comes() const {
  std::string missing;
  for (size_t i = 0; i < states_.size(); ++i)
    if (learner_.awaits(i)) missing += (missing.empty() ? "" : ", ") + name(i);
  return {Code::kUnavailable,
          "no answer for " + std::to_string(options_.wait.count()) + " s" +
              (missing.empty() ? "" : "; missing: " + missing),
          kResume};
}

/// Ends every stream with the reason; whoever comes later finds nobody.
Error LearnerSession::abandon(Error error) {
  for (size_t i = 0; i < states_.size(); ++i)
    if (states_[i].connection) dismiss(i, error);
  for (int ticks = 0; ticks < 3; ++ticks) host_.next(kLearnerTick);  // The last words go out.
  if (error.hint.empty()) error.hint = kResume;
  return error;
}

std::optional<size_t> LearnerSession::seat_of(ConnectionId connection) const {
  for (size_t i = 0; i < states_.size(); ++i)
    if (states_[i].connection == connection) return i;
  return std::nullopt;
}

}  // namespace parley::net
