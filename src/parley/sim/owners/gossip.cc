#include "parley/sim/owners/gossip.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "parley/plan/learner/jobs.h"
#include "parley/plan/learner/sync_plan.h"
#include "parley/sim/engine/party.h"

namespace parley::sim {
namespace {

constexpr uint64_t kEventsMax = 100'000'000;

enum GossipKind { kLetter, kRemind, kBack };

class Neighbours {
 public:
  explicit Neighbours(const GossipSetting& setting)
      : setting_(setting),
        queue_(setting.faults, setting.options.seed, "gossip", setting.run),
        owners_(setting.plan.owners.size()) {}

  Result<GossipRun> run() {
    for (size_t i = 0; i < owners_.size(); ++i) {
      owners_[i].party = TRY(Party::make(setting_.input, setting_.options, i, setting_.run));
      TRY(come(i));
      if (!setting_.faults.none())
        queue_.plan(setting_.faults.deadline, {.kind = kRemind, .to = i});
    }
    for (uint64_t k = 0; !over() && k < kEventsMax; ++k) {
      auto event = queue_.next();
      if (!event) break;
      TRY(happen(*event));
    }
    for (const OwnerState& owner : owners_)
      if (owner.process && owner.process->refused()) return *owner.process->refused();
    check(over());
    return finish();
  }

 private:
  /// An owner: what it keeps, and its process while there is one.
  struct OwnerState {
    std::unique_ptr<Party> party{};
    std::unique_ptr<protocol::GossipNode> process{};
  };

  bool over() const {
    return std::all_of(owners_.begin(), owners_.end(), [](const OwnerState& owner) {
      return owner.process && (owner.process->finished() || owner.process->refused());
    });
  }

  Result<void> come(size_t owner) {
    auto gate = TRY(owners_[owner].party->open_gate());
    owners_[owner].process = std::make_unique<protocol::GossipNode>(
        setting_.plan,
        protocol::GossipNode::Place{owner, plan::neighbours_of(setting_.input.charter, owner)},
        std::move(gate));
    return tell(owner, owners_[owner].process->start());
  }

  Result<void> happen(const Event& event) {
    auto& process = owners_[event.to].process;
    switch (event.kind) {
      case kBack:
        return process ? Result<void>() : come(event.to);
      case kRemind:
        queue_.plan(setting_.faults.deadline, {.kind = kRemind, .to = event.to});
        return process ? tell(event.to, process->remind()) : Result<void>();
      default:
        return process ? hear(event) : Result<void>();
    }
  }

  Result<void> hear(const Event& letter) {
    OwnerState& owner = owners_[letter.to];
    TRY(tell(letter.to, owner.process->step(letter.from, letter.message)));
    owner.process->rest();
    note(letter.to);
    if (queue_.happens(setting_.faults.crash)) crash(letter.to);
    return {};
  }

  /// The process dies with all it knew; its ledger stays.
  void crash(size_t owner) {
    owners_[owner].process.reset();
    ++result_.crashes;
    queue_.plan(queue_.exponential(setting_.faults.absence), {.kind = kBack, .to = owner});
  }

  Result<void> tell(size_t from, Result<std::vector<protocol::Whisper>> whispers) {
    if (!whispers) return whispers.error();
    for (protocol::Whisper& each : *whispers) {
      result_.bytes += each.message.size();
      queue_.send(
          {.kind = kLetter, .to = each.to, .from = from, .message = std::move(each.message)});
    }
    return {};
  }

  void note(size_t owner) {
    const protocol::SyncLearner& learner = owners_[owner].process->learner();
    if (owner != 0 || learner.rounds_done() <= noted_) return;
    noted_ = learner.rounds_done();
    setting_.after(learner);
  }

  GossipRun finish() {
    for (const OwnerState& owner : owners_) {
      const auto model = owner.process->learner().model();
      result_.models.emplace_back(model.begin(), model.end());
      result_.ledgers.push_back(owner.party->epsilon_spent());
      result_.answers.push_back(owner.party->answers());
    }
    result_.spent = owners_[0].process->learner().spent();
    result_.evaluation = owners_[0].process->learner().evaluation();
    return std::move(result_);
  }

  const GossipSetting& setting_;
  EventQueue queue_;
  std::vector<OwnerState> owners_;
  size_t noted_ = 0;
  GossipRun result_{};
};

}  // namespace

Result<GossipRun> run_gossip(const GossipSetting& setting) { return Neighbours(setting).run(); }

Result<RunOutcome> simulate_gossip(const SimulateInput& input, const SimulateOptions& options,
                                   const Reference& reference, uint64_t run) {
  TRY(plan::check_everybody(input.charter));
  const auto plan = TRY(plan::sync_plan(plan::joint_job(input.charter), input.pilot.get()));
  GossipSetting setting{.input = input, .options = options, .plan = plan, .run = run};
  RunOutcome outcome;
  setting.after = [&](const protocol::SyncLearner& learner) {
    options.progress(input.owners.size());
    outcome.by_round.push_back(reference.relative_at(learner.model()));
  };
  GossipRun done = TRY(run_gossip(setting));
  outcome.model = std::move(done.models.front());
  outcome.evaluation = done.evaluation;
  outcome.bytes_up = done.bytes;
  const std::vector<double> scales = TRY(noise_scales(input.charter));
  for (size_t i = 0; i < plan.owners.size(); ++i)
    outcome.owners.push_back({done.spent[i], done.answers[i], plan.owners[i].weight, scales[i]});
  return outcome;
}

}  // namespace parley::sim
