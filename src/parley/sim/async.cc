#include "parley/sim/async.h"

#include <cmath>
#include <memory>
#include <optional>
#include <queue>
#include <utility>

#include "parley/base/math/portable.h"
#include "parley/gate/terms.h"
#include "parley/sim/ledger_files.h"
#include "parley/sim/party.h"
#include "parley/sim/poisson_clocks.h"

namespace parley::sim {
namespace {

/// Something that happens at a time. Of two at the same time the first that was planned is first.
struct Event {
  enum class Kind { kTick, kCall, kUp, kDown, kOverdue, kBreak, kReturn };
  double time = 0;
  uint64_t number = 0;
  Kind kind = Kind::kTick;
  uint32_t stream = 0;  // of the owner, when it was planned
  size_t owner = 0;
  Bytes message{};

  bool operator>(const Event& other) const {
    return time != other.time ? time > other.time : number > other.number;
  }
};

class World {
 public:
  explicit World(const AsyncSetting& setting)
      : setting_(setting),
        learner_(setting.plan),
        clocks_(setting.options.seed, setting.run),
        luck_(setting.options.seed, "faults", setting.run),
        places_(setting.plan.owners.size()) {
    for (const charter::Owner& owner : setting.input.charter.owners) clocks_.add(owner.rate);
    result_.owners.resize(places_.size());
  }

  Result<AsyncRun> run() {
    const bool broadcast = setting_.plan.contact == charter::Contact::kBroadcast;
    for (size_t owner = 0; owner < places_.size(); ++owner) {
      if (broadcast) TRY(come(owner));  // Else when its clock first ticks.
      plan(clocks_.gap(owner), Event::Kind::kTick, owner);
    }
    if (broadcast) plan(call_every(), Event::Kind::kCall, 0);
    while (!learner_.finished() && left_ > 0) {
      Event event = std::move(const_cast<Event&>(events_.top()));
      events_.pop();
      now_ = event.time;
      TRY(happen(event));
      if (learner_.refused()) return *learner_.refused();
    }
    if (!learner_.finished()) return stuck();
    return finish();
  }

 private:
  /// An owner: what it keeps, and its process while there is one.
  struct Place {
    std::unique_ptr<Party> party{};
    std::unique_ptr<protocol::AsyncOwner> process{};
    uint32_t stream = 0;
    double arrival[2] = {0, 0};  // of the last message up and down: a stream keeps its order
    bool attends = false;
    bool eager = false;  // its clock ticked before it was welcomed for the first time
    bool gone = false;   // has given all its answers, or will never return
  };

  /// "At regular times": often enough that few ticks find nothing called.
  double call_every() const { return .25 / static_cast<double>(places_.size()); }

  void plan(double in, Event::Kind kind, size_t owner, Bytes message = {}) {
    events_.push({now_ + in, ++planned_, kind, places_[owner].stream, owner, std::move(message)});
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
        return post(learner_.call());
      case Event::Kind::kUp:
        return current ? hear(owner, event.message) : Result<void>();
      case Event::Kind::kDown:
        return current ? tell(owner, event.message) : Result<void>();
      case Event::Kind::kOverdue:
        if (current && learner_.awaits(owner)) break_off(owner);
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
    const SimulateInput& input = setting_.input;
    const std::string& name = input.charter.owners[owner].name;
    if (!place.party) {
      const auto policy = input.policies.find(name);
      place.party =
          TRY(Party::make({.charter = input.charter,
                           .owner = owner,
                           .rows = input.owners[owner].rows,
                           .policy = policy == input.policies.end() ? nullptr : &policy->second,
                           .seed = setting_.options.seed,
                           .run = setting_.run,
                           .ledger = setting_.run == 0 ? ledger_file(setting_.options.out, name)
                                                       : std::filesystem::path(),
                           .threads = setting_.options.threads}));
    }
    if (!place.process) {
      auto gate = TRY(place.party->open_gate());
      place.process = std::make_unique<protocol::AsyncOwner>(
          input.charter.hash, name, setting_.plan.contact, std::move(gate));
    }
    place.attends = true;
    place.arrival[0] = place.arrival[1] = now_;
    ++place.stream;
    learner_.attend(owner);
    up(owner, place.process->connect());
    return {};
  }

  /// A stream ends for both sides; the owner will be back.
  void break_off(size_t owner) {
    Place& place = places_[owner];
    learner_.leave(owner);
    place.attends = false;
    ++result_.broken;
    plan(exponential(setting_.faults.absence), Event::Kind::kReturn, owner);
  }

  /// The process dies; its ledger stays.
  void crash(size_t owner) {
    places_[owner].process.reset();
    break_off(owner);
    if (!happens(setting_.faults.vanish)) return;
    note(owner);
    places_[owner].gone = true;
    --left_;
  }

  /// The learner hears an owner.
  Result<void> hear(size_t owner, const Bytes& message) {
    auto step = learner_.step(owner, message);
    if (!step && setting_.faults.none()) return step.error();
    if (!step) return break_off(owner), Result<void>();
    if (step->taken) {
      result_.order.push_back(owner);
      setting_.after(learner_);
      if (learner_.answers(owner) == setting_.plan.answers) retire(owner);
    }
    return learner_.finished() ? Result<void>() : post(std::move(step->messages));
  }

  /// It has given all it may: nothing of it is needed any more.
  void retire(size_t owner) {
    note(owner);
    learner_.leave(owner);
    places_[owner].process.reset();
    places_[owner].party.reset();
    places_[owner].gone = true;
    --left_;
  }

  /// An owner hears the learner.
  Result<void> tell(size_t owner, const Bytes& message) {
    protocol::AsyncOwner& process = *places_[owner].process;
    auto reply = process.step(message);
    if (!reply && (setting_.faults.none() || reply.error().code != Code::kIntegrity))
      return reply.error();
    if (happens(setting_.faults.crash)) return crash(owner), Result<void>();
    if (!reply) return break_off(owner), Result<void>();
    process.rest();
    if (*reply) up(owner, **std::move(reply));
    if (std::exchange(places_[owner].eager, false)) claim(owner);
    return {};
  }

  Result<void> post(std::vector<protocol::Outgoing> messages) {
    for (protocol::Outgoing& each : messages) {
      if (!setting_.faults.none() && learner_.awaits(each.owner))
        plan(setting_.faults.deadline, Event::Kind::kOverdue, each.owner);
      result_.bytes_down += each.message.size();
      travel(Event::Kind::kDown, each.owner, std::move(each.message));
    }
    return {};
  }

  void up(size_t owner, Bytes message) {
    result_.bytes_up += message.size();
    travel(Event::Kind::kUp, owner, std::move(message));
  }

  void travel(Event::Kind kind, size_t owner, Bytes message) {
    const AsyncFaults& faults = setting_.faults;
    if (faults.none()) return plan(0, kind, owner, std::move(message));
    if (happens(faults.drop)) return plan(faults.deadline, Event::Kind::kBreak, owner);
    if (happens(faults.corrupt)) return plan(exponential(faults.delay), Event::Kind::kBreak, owner);
    double& last = places_[owner].arrival[kind == Event::Kind::kUp];
    double at = std::fmax(last, now_ + exponential(faults.delay));
    if (happens(faults.reorder)) at = now_;  // It overtakes what is on the way.
    last = std::fmax(last, at);
    if (happens(faults.duplicate)) plan(at - now_, kind, owner, message);
    plan(at - now_, kind, owner, std::move(message));
  }

  bool happens(double probability) { return probability > 0 && uniform() < probability; }
  double exponential(double mean) { return mean == 0 ? 0 : -mean * portable_log(uniform()); }
  double uniform() { return (static_cast<double>(luck_.word() >> 12) + .5) * 0x1p-52; }

  void note(size_t owner) {
    const Party* party = places_[owner].party.get();
    if (party == nullptr) return;
    result_.owners[owner].answered = party->answers();
    result_.owners[owner].spent = party->epsilon_spent();
  }

  Error stuck() const {
    return {Code::kUnavailable,
            "owners have vanished, and those that are left have given all their answers: " +
                std::to_string(learner_.rounds_done()) + " of " +
                std::to_string(setting_.plan.rule.rounds) + " rounds are done",
            "Give answers some room above rounds / owners."};
  }

  AsyncRun finish() {
    for (size_t owner = 0; owner < places_.size(); ++owner) {
      result_.owners[owner].taken = learner_.answers(owner);
      note(owner);
    }
    result_.model = learner_.model();
    result_.time = now_;
    return std::move(result_);
  }

  const AsyncSetting& setting_;
  protocol::AsyncLearner learner_;
  PoissonClocks clocks_;
  SeededEntropy luck_;
  std::vector<Place> places_;
  size_t left_ = places_.size();  // owners that may still come
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_{};
  uint64_t planned_ = 0;
  double now_ = 0;
  AsyncRun result_{};
};

std::vector<Outcome::Share> shares_of(const AsyncSetting& setting, const AsyncRun& run) {
  std::vector<Outcome::Share> shares;
  for (size_t i = 0; i < run.owners.size(); ++i) {
    const auto terms = gate::terms_for(setting.input.charter, i);
    check(bool(terms));
    const double scale =
        std::visit([](const auto& mechanism) { return static_cast<double>(mechanism.scale()); },
                   terms->mechanism);
    shares.push_back(
        {.spent = {.epsilon = run.owners[i].spent},
         .answers = run.owners[i].taken,
         .weight = setting.plan.rule.owners[i].weight,
         .noise_scale = scale * terms->lattice.gamma() / static_cast<double>(terms->rows)});
  }
  return shares;
}

}  // namespace

bool is_noted(uint64_t round, const learn::AsyncRule& rule) {
  return round % rule.owners.size() == 0 || round == rule.rounds;
}

Result<AsyncRun> run_async(const AsyncSetting& setting) { return World(setting).run(); }

Result<Outcome> simulate_async(const SimulateInput& input, const SimulateOptions& options,
                               const Reference& reference) {
  AsyncSetting setting{.input = input,
                       .options = options,
                       .plan = TRY(protocol::async_plan(input.charter, input.pilot.get()))};
  if (!options.out.empty()) TRY(clear_ledgers(input.charter, options.out));
  const learn::AsyncRule& rule = setting.plan.rule;
  Outcome outcome;
  for (; setting.run < options.runs; ++setting.run) {
    size_t sweep = 0;
    setting.after = [&](const protocol::AsyncLearner& learner) {
      options.progress(1);
      if (!is_noted(learner.rounds_done(), rule)) return;
      if (outcome.by_round.size() == sweep) outcome.by_round.emplace_back();
      outcome.by_round[sweep++].push_back(reference.relative(reference.pooled.at(learner.model())));
    };
    AsyncRun run = TRY(run_async(setting));
    if (setting.run > 0) continue;
    outcome.owners = shares_of(setting, run);
    outcome.model = std::move(run.model);
    outcome.bytes_up = run.bytes_up, outcome.bytes_down = run.bytes_down;
  }
  return outcome;
}

}  // namespace parley::sim
