#include "parley/sim/world.h"

#include <cmath>
#include <limits>
#include <memory>
#include <queue>
#include <utility>

#include "parley/base/math/portable.h"
#include "parley/protocol/make_learner.h"
#include "parley/protocol/vertical/owner.h"
#include "parley/sim/owners/shares.h"
#include "parley/sim/party.h"
#include "parley/sim/poisson_clocks.h"

namespace parley::sim {
namespace {

/// Something that happens at a time. Of two at the same time the first that was planned is first.
struct Event {
  enum class Kind { kTick, kCall, kTimeUp, kUp, kDown, kOverdue, kBreak, kReturn };
  double time = 0;
  uint64_t number = 0;
  Kind kind = Kind::kTick;
  uint64_t stream = 0;  // of the owner, when it was planned; of kTimeUp the stage of the job
  size_t owner = 0;
  Bytes message{};

  bool operator>(const Event& other) const {
    return time != other.time ? time > other.time : number > other.number;
  }
};

class World {
 public:
  explicit World(const JobSetting& setting)
      : setting_(setting),
        charter_(setting.input.charter),
        faults_(setting.faults),
        clocks_(setting.options.seed, setting.run),
        luck_(setting.options.seed, "faults", setting.run + (setting.luck << 32)),
        places_(charter_.owners.size()) {
    for (const charter::Owner& owner : charter_.owners) {
      clocks_.add(owner.rate);
      rates_ += owner.rate;
      slowest_ = std::fmin(slowest_, owner.rate);
    }
    result_.owners.resize(places_.size());
  }

  Result<JobRun> run() {
    TRY(start_learner());
    const protocol::Pace pace = learner_->pace();
    clocks_tick_ = pace.own_clocks;
    if (!faults_.none()) plan(faults_.deadline, Event::Kind::kTimeUp, 0);
    for (size_t owner = 0; owner < places_.size(); ++owner) {
      if (faults_.down.contains(owner)) lose(owner);
      if (places_[owner].gone) continue;
      if (pace.calls || !pace.own_clocks) TRY(come(owner));  // Else when its clock first ticks.
      if (pace.own_clocks) plan(clocks_.gap(owner), Event::Kind::kTick, owner);
    }
    if (pace.calls) plan(call_every(), Event::Kind::kCall, 0);
    while (!learner_->finished() && left_ > 0 && !gave_up() && !events_.empty()) {
      Event event = std::move(const_cast<Event&>(events_.top()));
      events_.pop();
      now_ = event.time;
      TRY(happen(event));
      if (learner_->is_ready()) TRY(time_is_up());
      if (learner_->refused()) return *learner_->refused();
    }
    if (!learner_->finished()) learner_->time_is_up();
    if (!learner_->finished()) return stuck();
    return finish();
  }

 private:
  /// An owner: what it keeps, and its process while there is one.
  struct Place {
    std::shared_ptr<Party> party{};
    std::unique_ptr<protocol::Owner> process{};
    uint64_t stream = 0;
    double arrival[2] = {0, 0};  // of the last message up and down: a stream keeps its order
    bool attends = false;
    bool eager = false;  // its clock ticked before it was welcomed for the first time
    bool gone = false;   // has given all its answers, or will never return
  };

  /// "At regular times": often enough that few ticks find nothing called.
  double call_every() const { return .25 / rates_; }

  /// Like a networked learner: where owners have vanished, the others may have no answers left.
  bool gave_up() const {
    return !faults_.none() && now_ - answered_ > 1000 / slowest_ + 100 * faults_.deadline;
  }

  void plan(double in, Event::Kind kind, size_t owner, Bytes message = {}) {
    const uint64_t of = kind == Event::Kind::kTimeUp ? stage_ : places_[owner].stream;
    events_.push({now_ + in, ++planned_, kind, of, owner, std::move(message)});
  }

  Result<void> happen(Event& event) {
    const size_t owner = event.owner;
    const bool current =
        event.stream == places_[owner].stream && places_[owner].attends && !places_[owner].gone;
    switch (event.kind) {
      case Event::Kind::kTick:
        return tick(owner);
      case Event::Kind::kCall:
        plan(call_every(), Event::Kind::kCall, 0);
        return post(learner_->call()), Result<void>();
      case Event::Kind::kTimeUp:
        return event.stream == stage_ ? time_is_up() : Result<void>();
      case Event::Kind::kUp:
        return current ? hear(owner, event.message) : Result<void>();
      case Event::Kind::kDown:
        return current ? tell(owner, event.message) : Result<void>();
      case Event::Kind::kOverdue:
        if (current && learner_->awaits(owner)) break_off(owner);
        return {};
      case Event::Kind::kBreak:
        if (current) break_off(owner);
        return {};
      case Event::Kind::kReturn:
        return places_[owner].attends || places_[owner].gone ? Result<void>() : come(owner);
    }
    return {};
  }

  Result<void> tick(size_t owner) {
    Place& place = places_[owner];
    if (place.gone) return {};
    plan(clocks_.gap(owner), Event::Kind::kTick, owner);
    if (!place.party) {
      place.eager = true;
      return come(owner);
    }
    if (place.attends) claim(owner);
    return {};
  }

  void claim(size_t owner) {
    if (auto claim = places_[owner].process->tick()) up(owner, *std::move(claim));
  }

  /// Opens a stream; makes the owner, or its process, if there is none.
  Result<void> come(size_t owner) {
    Place& place = places_[owner];
    if (!place.party && !setting_.parties.empty()) place.party = setting_.parties[owner];
    if (!place.party) place.party = TRY(party_of(owner));
    if (!place.process) place.process = TRY(place.party->start(charter_));
    place.attends = true;
    place.arrival[0] = place.arrival[1] = now_;
    ++place.stream;
    learner_->attend(owner);
    up(owner, place.process->connect());
    return {};
  }

  Result<std::unique_ptr<Party>> party_of(size_t owner) const {
    return make_party(
        setting_.input, setting_.options, owner, setting_.run,
        setting_.secrets.empty() ? std::nullopt : std::optional(setting_.secrets[owner]));
  }

  /// A stream ends for both sides; the owner will be back.
  void break_off(size_t owner) {
    Place& place = places_[owner];
    learner_->leave(owner);
    place.attends = false;
    ++result_.broken;
    plan(exponential(faults_.absence), Event::Kind::kReturn, owner);
  }

  /// The process dies; its ledger stays.
  void crash(size_t owner) {
    places_[owner].process.reset();
    break_off(owner);
    if (happens(faults_.vanish)) lose(owner);
  }

  void lose(size_t owner) {
    note(owner);
    places_[owner].gone = true;
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
    for (size_t owner = 0; owner < places_.size(); ++owner)
      if (places_[owner].attends && !places_[owner].gone) break_off(owner);
    return {};
  }

  /// As a networked learner does: in the file before anything is sent.
  void keep(size_t owner, const protocol::Step& step) {
    if (step.taken) journal_.entries.push_back({charter_.owners[owner].name, *step.taken});
    for (const wire::Note& note : step.notes) {
      journal_.notes.push_back(note);
      journal_.notes.back().answers = journal_.entries.size();
    }
    if (!step.messages.empty()) written_ = {journal_.entries.size(), journal_.notes.size()};
  }

  /// The learner hears an owner.
  Result<void> hear(size_t owner, const Bytes& message) {
    const Mark before = mark();
    auto step = learner_->step(owner, message);
    if (!step && faults_.none()) return step.error();
    if (!step) return break_off(owner), Result<void>();
    keep(owner, *step);
    if (step->taken) answered_ = now_;
    begin_stage(before);
    const bool last = clocks_tick_ && step->taken && places_[owner].process->gave_all();
    if (learner_->finished()) return {};
    if (happens(faults_.learner)) return crash_learner();
    post(std::move(step->messages));
    if (last) retire(owner);
    return {};
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
    if (!faults_.none()) plan(faults_.deadline, Event::Kind::kTimeUp, 0);
    return true;
  }

  Result<void> time_is_up() {
    const Mark before = mark();
    protocol::Step step = learner_->time_is_up();
    keep(0, step);
    if (!begin_stage(before)) plan(faults_.deadline / 4, Event::Kind::kTimeUp, 0);
    if (!learner_->finished()) post(std::move(step.messages));
    return {};
  }

  /// It has given all it may: nothing of it is needed any more.
  void retire(size_t owner) {
    lose(owner);
    learner_->leave(owner);
    places_[owner].process.reset();
    places_[owner].party.reset();
  }

  /// An owner hears the learner.
  Result<void> tell(size_t owner, const Bytes& message) {
    protocol::Owner& process = *places_[owner].process;
    auto reply = process.step(message);
    if (!reply && (faults_.none() || reply.error().code != Code::kIntegrity)) return reply.error();
    if (happens(faults_.crash)) return crash(owner), Result<void>();
    if (!reply) return break_off(owner), Result<void>();
    process.rest();
    if (*reply) up(owner, **std::move(reply));
    while (auto more = process.more()) up(owner, *std::move(more));
    if (std::exchange(places_[owner].eager, false)) claim(owner);
    return {};
  }

  void post(std::vector<protocol::Outgoing> messages) {
    for (protocol::Outgoing& each : messages) {
      if (!faults_.none() && learner_->awaits(each.owner))
        plan(faults_.deadline, Event::Kind::kOverdue, each.owner);
      result_.bytes_down += each.message.size();
      travel(Event::Kind::kDown, each.owner, std::move(each.message));
    }
  }

  void up(size_t owner, Bytes message) {
    result_.bytes_up += message.size();
    travel(Event::Kind::kUp, owner, std::move(message));
  }

  void travel(Event::Kind kind, size_t owner, Bytes message) {
    if (faults_.none()) return plan(0, kind, owner, std::move(message));
    if (happens(faults_.drop)) return plan(faults_.deadline, Event::Kind::kBreak, owner);
    if (happens(faults_.corrupt))
      return plan(exponential(faults_.delay), Event::Kind::kBreak, owner);
    double& last = places_[owner].arrival[kind == Event::Kind::kUp];
    double at = std::fmax(last, now_ + exponential(faults_.delay));
    if (happens(faults_.reorder)) at = now_;  // It overtakes what is on the way.
    last = std::fmax(last, at);
    if (happens(faults_.duplicate)) plan(at - now_, kind, owner, message);
    plan(at - now_, kind, owner, std::move(message));
  }

  bool happens(double probability) { return probability > 0 && uniform() < probability; }
  double exponential(double mean) { return mean == 0 ? 0 : -mean * portable_log(uniform()); }
  double uniform() { return (static_cast<double>(luck_.word() >> 12) + .5) * 0x1p-52; }

  void note(size_t owner) {
    const Party* party = places_[owner].party.get();
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
    for (size_t owner = 0; owner < places_.size(); ++owner) {
      result_.owners[owner].taken = result_.trained.answers[owner];
      note(owner);
      if (const auto* part = dynamic_cast<protocol::VerticalOwner*>(places_[owner].process.get()))
        result_.parts.push_back(part->model());
      result_.owners[owner].spent.evaluation = result_.trained.spent[owner].evaluation;
    }
    for (const wire::Entry& entry : journal_.entries) result_.order.push_back(entry.owner);
    result_.journal = std::move(journal_.entries);
    result_.notes = std::move(journal_.notes);
    result_.time = now_;
    return std::move(result_);
  }

  const JobSetting& setting_;
  const charter::Charter& charter_;
  const Faults& faults_;
  bool clocks_tick_ = false;
  std::unique_ptr<protocol::Learner> learner_{};
  wire::Transcript journal_{};
  std::pair<size_t, size_t> written_{0, 0};  // of its answers and notes, in the file
  PoissonClocks clocks_;
  double rates_ = 0;  // of all clocks together
  double slowest_ = std::numeric_limits<double>::infinity();
  SeededEntropy luck_;
  std::vector<Place> places_;
  size_t left_ = places_.size();  // owners that may still come
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_{};
  uint64_t planned_ = 0;
  uint64_t stage_ = 0;             // counts rounds
  double now_ = 0, answered_ = 0;  // the latter when the learner last took an answer
  JobRun result_{};
};

}  // namespace

Result<JobRun> run_job(const JobSetting& setting) { return World(setting).run(); }

}  // namespace parley::sim
