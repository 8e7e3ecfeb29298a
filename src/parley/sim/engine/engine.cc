#include "parley/sim/engine/engine.h"

#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "parley/protocol/make_learner.h"
#include "parley/protocol/vertical/owner.h"
#include "parley/sim/engine/party.h"
#include "parley/sim/poisson_clocks.h"

namespace parley::sim {
namespace {

enum Kind { kTick, kCall, kTimeUp, kToLearner, kToOwner, kOverdue, kBreak, kReturn };

constexpr size_t kLearner = std::numeric_limits<size_t>::max();  // its place among the owners

class Engine {
 public:
  explicit Engine(const JobSetting& setting)
      : setting_(setting),
        charter_(setting.input.charter),
        faults_(setting.faults),
        clocks_(setting.options.seed, setting.run),
        queue_(faults_, setting.options.seed, "faults", setting.run + (setting.fault_seed << 32)),
        owners_(charter_.owners.size()) {
    for (const charter::Owner& owner : charter_.owners) {
      clocks_.add(owner.rate);
      rates_ += owner.rate;
      slowest_ = std::fmin(slowest_, owner.rate);
    }
    result_.owners.resize(owners_.size());
  }

  Result<JobRun> run() {
    TRY(start_learner());
    pace_ = learner_->pace();
    if (!faults_.none()) plan_deadline(faults_.deadline);
    for (size_t owner = 0; owner < owners_.size(); ++owner) TRY(begin(owner));
    if (pace_.calls) plan(call_every(), kCall, 0);
    while (!learner_->finished() && left_ > 0 && !gave_up()) {
      auto event = queue_.next();
      if (!event) break;
      TRY(happen(*event));
      if (learner_->is_ready()) TRY(time_is_up());
      if (learner_->refused()) return *learner_->refused();
    }
    if (!learner_->finished()) learner_->time_is_up();
    if (!learner_->finished()) return stuck();
    return finish();
  }

 private:
  /// What an owner keeps, and its process while there is one.
  struct OwnerState {
    std::shared_ptr<Party> party{};
    std::unique_ptr<protocol::Owner> process{};
    uint64_t stream = 0;
    bool attends = false;
    bool eager = false;  // its clock ticked before it was welcomed for the first time
    bool gone = false;   // has given all its answers, or will never return
  };

  /// "At regular times": often enough that few ticks find nothing called.
  double call_every() const { return .25 / rates_; }

  /// Like a networked learner: where owners have vanished, the others may have no answers left.
  bool gave_up() const {
    return !faults_.none() && queue_.now() - answered_ > 1000 / slowest_ + 100 * faults_.deadline;
  }

  void plan(double in, Kind kind, size_t owner) {
    queue_.plan(in, {.kind = kind, .to = owner, .stream = owners_[owner].stream});
  }

  void plan_deadline(double in) { queue_.plan(in, {.kind = kTimeUp, .stream = stage_}); }

  Result<void> begin(size_t owner) {
    if (faults_.down.contains(owner)) {
      if (charter_.secure_aggregation) TRY(has_signed(owner));
      lose(owner);
    }
    if (owners_[owner].gone) return {};
    if (pace_.calls || !pace_.own_clocks) TRY(come(owner));  // Else when its clock first ticks.
    if (pace_.own_clocks) plan(clocks_.gap(owner), kTick, owner);
    return {};
  }

  /// It came once, and its signature is in the journal.
  Result<void> has_signed(size_t owner) {
    journal_.notes.push_back(simulated_approval(charter_, charter_.owners[owner].name));
    written_.second = journal_.notes.size();
    return learner_->replay(journal_.notes.back());
  }

  Result<void> happen(Event& event) {
    const size_t owner = event.kind == kToLearner ? event.from : event.to;
    const OwnerState& state = owners_[owner];
    const bool current = event.stream == state.stream && state.attends && !state.gone;
    switch (Kind(event.kind)) {
      case kTick:
        return tick(owner);
      case kCall:
        plan(call_every(), kCall, 0);
        return send_all(learner_->call()), Result<void>();
      case kTimeUp:
        return event.stream == stage_ ? time_is_up() : Result<void>();
      case kToLearner:
        return current ? learner_hears(owner, event.message) : Result<void>();
      case kToOwner:
        return current ? owner_hears(owner, event.message) : Result<void>();
      case kOverdue:
        if (current && learner_->awaits(owner)) break_off(owner);
        return {};
      case kBreak:
        if (current) break_off(owner);
        return {};
      case kReturn:
        return state.attends || state.gone ? Result<void>() : come(owner);
    }
    return {};
  }

  Result<void> tick(size_t owner) {
    OwnerState& state = owners_[owner];
    if (state.gone) return {};
    plan(clocks_.gap(owner), kTick, owner);
    if (!state.party) {
      state.eager = true;
      return come(owner);
    }
    if (state.attends) claim(owner);
    return {};
  }

  void claim(size_t owner) {
    if (auto claim = owners_[owner].process->tick()) send_up(owner, *std::move(claim));
  }

  /// Opens a stream; makes the owner, or its process, if there is none.
  Result<void> come(size_t owner) {
    OwnerState& state = owners_[owner];
    if (!state.party && !setting_.parties.empty()) state.party = setting_.parties[owner];
    if (!state.party) state.party = TRY(make_party(owner));
    if (!state.process) state.process = TRY(state.party->start(charter_));
    state.attends = true;
    queue_.reopen(owner, kLearner);
    ++state.stream;
    learner_->attend(owner);
    send_up(owner, state.process->connect());
    return {};
  }

  Result<std::unique_ptr<Party>> make_party(size_t owner) const {
    return Party::make(
        setting_.input, setting_.options, owner, setting_.run,
        setting_.secrets.empty() ? std::nullopt : std::optional(setting_.secrets[owner]));
  }

  /// A stream ends for both sides; the owner will be back.
  void break_off(size_t owner) {
    learner_->leave(owner);
    owners_[owner].attends = false;
    ++result_.broken;
    plan(queue_.exponential(faults_.absence), kReturn, owner);
  }

  /// The process dies; its ledger stays.
  void crash(size_t owner) {
    owners_[owner].process.reset();
    break_off(owner);
    if (queue_.happens(faults_.vanish)) lose(owner);
  }

  void lose(size_t owner) {
    note(owner);
    owners_[owner].gone = true;
    --left_;
  }

  Result<void> start_learner() {
    learner_ = TRY(protocol::make_learner(charter_, setting_.input.pilot.get(),
                                          protocol::Receipts::kUnsigned, dealer_key()));
    return journal_.in_order(
        [&](const wire::Entry& entry) { return learner_->replay(entry.owner, entry.answer); },
        [&](const wire::Note& note) { return learner_->replay(note); });
  }

  /// Like the file of a networked learner, it survives the process.
  std::optional<Secret32> dealer_key() const {
    if (!protocol::has_dealer(charter_)) return std::nullopt;
    if (setting_.dealer) return setting_.dealer;
    SeededEntropy entropy(setting_.options.seed, "dealer", setting_.run);
    return protocol::draw_secret(entropy);
  }

  /// The learner dies and resumes; what was not in its journal's file is lost.
  Result<void> crash_learner() {
    journal_.entries.resize(written_.first);
    journal_.notes.resize(written_.second);
    TRY(start_learner());
    ++result_.resumed;
    for (size_t owner = 0; owner < owners_.size(); ++owner)
      if (owners_[owner].attends && !owners_[owner].gone) break_off(owner);
    return {};
  }

  /// As a networked learner does: in the file before anything is sent.
  void keep(size_t owner, const protocol::Step& step) {
    if (!setting_.journal && faults_.learner == 0) return;  // Nobody will read it.
    if (step.taken) journal_.entries.push_back({charter_.owners[owner].name, *step.taken});
    for (const wire::Note& note : step.notes) {
      journal_.notes.push_back(note);
      journal_.notes.back().answers = journal_.entries.size();
    }
    if (!step.messages.empty()) written_ = {journal_.entries.size(), journal_.notes.size()};
  }

  Result<void> learner_hears(size_t owner, const Bytes& message) {
    const Mark before = mark();
    auto step = learner_->step(owner, message);
    if (!step && faults_.none()) return step.error();
    if (!step) return break_off(owner), Result<void>();
    if (step->parted) {
      learner_->leave(owner);
      owners_[owner].attends = false;
      lose(owner);
    }
    decide(*step);
    keep(owner, *step);
    if (step->taken) answered_ = queue_.now(), setting_.options.progress(1);
    begin_stage(before);
    const bool last = pace_.own_clocks && step->taken && owners_[owner].process->gave_all();
    if (learner_->finished()) {
      for (const protocol::Outgoing& each : step->messages)
        result_.bytes_down += each.message.size();
      return {};
    }
    if (queue_.happens(faults_.learner)) return crash_learner();
    send_all(std::move(step->messages));
    if (last) retire(owner);
    return {};
  }

  /// Nobody is there to be asked: the options say it.
  void decide(protocol::Step& step) {
    if (!learner_->guard().asks()) return;
    protocol::Step more = learner_->decide(setting_.options.continue_after_alarm);
    for (wire::Note& note : more.notes) step.notes.push_back(std::move(note));
    for (protocol::Outgoing& out : more.messages) step.messages.push_back(std::move(out));
  }

  struct Mark {
    uint64_t rounds, stage;
  };
  Mark mark() const { return {learner_->rounds_done(), learner_->stage()}; }

  /// If the time for an answer begins anew.
  bool begin_stage(const Mark& before) {
    if (learner_->rounds_done() != before.rounds) setting_.after(*learner_);
    if (learner_->stage() == before.stage) return false;
    ++stage_;
    if (!faults_.none()) plan_deadline(faults_.deadline);
    return true;
  }

  Result<void> time_is_up() {
    const Mark before = mark();
    protocol::Step step = learner_->time_is_up();
    decide(step);
    keep(0, step);
    if (!begin_stage(before)) plan_deadline(faults_.deadline / 4);
    if (!learner_->finished()) send_all(std::move(step.messages));
    return {};
  }

  /// It has given all it may: nothing of it is needed any more.
  void retire(size_t owner) {
    lose(owner);
    learner_->leave(owner);
    owners_[owner].process.reset();
    owners_[owner].party.reset();
  }

  Result<void> owner_hears(size_t owner, const Bytes& message) {
    protocol::Owner& process = *owners_[owner].process;
    auto reply = process.step(message);
    if (!reply && (faults_.none() || reply.error().code != Code::kIntegrity)) return reply.error();
    if (queue_.happens(faults_.crash)) return crash(owner), Result<void>();
    if (!reply) return break_off(owner), Result<void>();
    process.rest();
    if (*reply) send_up(owner, **std::move(reply));
    while (auto more = process.more()) send_up(owner, *std::move(more));
    if (std::exchange(owners_[owner].eager, false)) claim(owner);
    return {};
  }

  void send_all(std::vector<protocol::Outgoing> messages) {
    for (protocol::Outgoing& each : messages) {
      if (!faults_.none() && learner_->awaits(each.owner))
        plan(faults_.deadline, kOverdue, each.owner);
      result_.bytes_down += each.message.size();
      send(each.owner, {.kind = kToOwner, .to = each.owner, .from = kLearner}, each.message);
    }
  }

  void send_up(size_t owner, Bytes message) {
    result_.bytes_up += message.size();
    send(owner, {.kind = kToLearner, .to = kLearner, .from = owner}, message);
  }

  /// On the owner's stream, which ends where a message does not arrive as it was.
  void send(size_t owner, Event event, Bytes& message) {
    event.stream = owners_[owner].stream;
    event.message = std::move(message);
    switch (queue_.send(std::move(event))) {
      case EventQueue::Sent::kOnItsWay:
        return;
      case EventQueue::Sent::kLost:
        return plan(faults_.deadline, kBreak, owner);
      case EventQueue::Sent::kDamaged:
        return plan(queue_.exponential(faults_.delay), kBreak, owner);
    }
  }

  void note(size_t owner) {
    const Party* party = owners_[owner].party.get();
    if (party == nullptr) return;
    result_.owners[owner].answered = party->answers();
    result_.owners[owner].spent.epsilon = party->epsilon_spent();
  }

  Error stuck() const {
    return {Code::kUnavailable,
            "owners have vanished, and those that are left cannot finish the job: " +
                std::to_string(learner_->rounds_done()) + " rounds are done",
            "Give answers some room above rounds / owners, or a smaller quorum."};
  }

  JobRun finish() {
    result_.trained = learner_->trained();
    for (size_t owner = 0; owner < owners_.size(); ++owner) {
      note(owner);
      JobRun::Owner& done = result_.owners[owner];
      done.taken = result_.trained.answers[owner];
      done.spent.evaluation = result_.trained.spent[owner].evaluation;
      done.weight = learner_->owners()[owner].weight;
      const protocol::Owner* process = owners_[owner].process.get();
      if (auto part = process ? process->part_of_model() : std::nullopt)
        result_.parts.push_back(*std::move(part));
    }
    for (const wire::Entry& entry : journal_.entries) result_.order.push_back(entry.owner);
    result_.journal = std::move(journal_.entries);
    result_.notes = std::move(journal_.notes);
    result_.time = queue_.now();
    return std::move(result_);
  }

  const JobSetting& setting_;
  const charter::Charter& charter_;
  const Faults& faults_;
  std::unique_ptr<protocol::Learner> learner_{};
  protocol::Pace pace_{};
  wire::Transcript journal_{};
  std::pair<size_t, size_t> written_{0, 0};  // of its answers and notes, in the file
  PoissonClocks clocks_;
  double rates_ = 0;  // of all clocks together
  double slowest_ = std::numeric_limits<double>::infinity();
  EventQueue queue_;
  std::vector<OwnerState> owners_;
  size_t left_ = owners_.size();  // owners that may still come
  uint64_t stage_ = 0;            // counts rounds
  double answered_ = 0;           // when the learner last took an answer
  JobRun result_{};
};

}  // namespace

Result<JobRun> run_job(const JobSetting& setting) { return Engine(setting).run(); }

}  // namespace parley::sim
