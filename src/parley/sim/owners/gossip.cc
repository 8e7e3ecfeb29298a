#include "parley/sim/owners/gossip.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "parley/plan/learner/jobs.h"
#include "parley/plan/learner/sync_plan.h"
#include "parley/sim/ledger_files.h"
#include "parley/sim/owners/post.h"
#include "parley/sim/owners/shares.h"
#include "parley/sim/party.h"

namespace parley::sim {
namespace {

constexpr uint64_t kEventsMax = 100'000'000;

enum Kind { kLetter, kRemind, kReturn };

class World {
 public:
  explicit World(const GossipSetting& setting)
      : setting_(setting),
        post_(setting.faults, setting.options.seed, "gossip", setting.run),
        nodes_(setting.plan.owners.size()) {}

  Result<GossipRun> run() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i].party = TRY(make_party(setting_.input, setting_.options, i, setting_.run));
      TRY(come(i));
      if (!setting_.faults.none()) post_.plan(setting_.faults.deadline, {.kind = kRemind, .to = i});
    }
    for (uint64_t k = 0; !over() && k < kEventsMax; ++k) {
      auto event = post_.next();
      if (!event) break;
      TRY(happen(*event));
    }
    for (const Node& node : nodes_)
      if (node.process && node.process->refused()) return *node.process->refused();
    check(over());
    return finish();
  }

 private:
  /// An owner: what it keeps, and its process while there is one.
  struct Node {
    std::unique_ptr<Party> party{};
    std::unique_ptr<protocol::GossipNode> process{};
  };

  bool over() const {
    return std::all_of(nodes_.begin(), nodes_.end(), [](const Node& node) {
      return node.process && (node.process->finished() || node.process->refused());
    });
  }

  Result<void> come(size_t owner) {
    auto gate = TRY(nodes_[owner].party->open_gate());
    nodes_[owner].process = std::make_unique<protocol::GossipNode>(
        setting_.plan,
        protocol::GossipNode::Place{owner, plan::neighbours_of(setting_.input.charter, owner)},
        std::move(gate));
    return tell(owner, nodes_[owner].process->start());
  }

  Result<void> happen(const Post::Event& event) {
    auto& process = nodes_[event.to].process;
    switch (event.kind) {
      case kReturn:
        return process ? Result<void>() : come(event.to);
      case kRemind:
        post_.plan(setting_.faults.deadline, {.kind = kRemind, .to = event.to});
        return process ? tell(event.to, process->remind()) : Result<void>();
      default:
        return process ? hear(event) : Result<void>();
    }
  }

  Result<void> hear(const Post::Event& letter) {
    Node& node = nodes_[letter.to];
    TRY(tell(letter.to, node.process->step(letter.from, letter.message)));
    node.process->rest();
    note(letter.to);
    if (post_.happens(setting_.faults.crash)) crash(letter.to);
    return {};
  }

  /// The process dies with all it knew; its ledger stays.
  void crash(size_t owner) {
    nodes_[owner].process.reset();
    ++result_.crashes;
    post_.plan(post_.exponential(setting_.faults.absence), {.kind = kReturn, .to = owner});
  }

  Result<void> tell(size_t from, Result<std::vector<protocol::Whisper>> whispers) {
    if (!whispers) return whispers.error();
    for (protocol::Whisper& each : *whispers) {
      result_.bytes += each.message.size();
      post_.send(
          {.kind = kLetter, .to = each.to, .from = from, .message = std::move(each.message)});
    }
    return {};
  }

  void note(size_t owner) {
    const protocol::SyncLearner& learner = nodes_[owner].process->learner();
    if (owner != 0 || learner.rounds_done() <= noted_) return;
    noted_ = learner.rounds_done();
    setting_.after(learner);
  }

  GossipRun finish() {
    for (const Node& node : nodes_) {
      const auto model = node.process->learner().model();
      result_.models.emplace_back(model.begin(), model.end());
      result_.ledgers.push_back(node.party->epsilon_spent());
      result_.answers.push_back(node.party->answers());
    }
    result_.spent = nodes_[0].process->learner().spent();
    result_.evaluation = nodes_[0].process->learner().evaluation();
    return std::move(result_);
  }

  const GossipSetting& setting_;
  Post post_;
  std::vector<Node> nodes_;
  size_t noted_ = 0;
  GossipRun result_{};
};

}  // namespace

Result<GossipRun> run_gossip(const GossipSetting& setting) { return World(setting).run(); }

Result<Outcome> simulate_gossip(const SimulateInput& input, const SimulateOptions& options,
                                const Reference& reference) {
  TRY(plan::check_everybody(input.charter));
  const auto plan = TRY(plan::sync_plan(plan::joint_job(input.charter), input.pilot.get()));
  GossipSetting setting{.input = input, .options = options, .plan = plan};
  if (!options.out.empty()) TRY(clear_ledgers(input.charter, options.out));
  Outcome outcome{.by_round = std::vector<std::vector<double>>(plan.schedule.rounds.size())};
  setting.after = [&](const protocol::SyncLearner& learner) {
    options.progress(input.owners.size());
    outcome.by_round[learner.rounds_done() - 1].push_back(
        reference.relative(reference.pooled.at(learner.model())));
  };
  for (; setting.run < options.runs; ++setting.run) {
    GossipRun run = TRY(run_gossip(setting));
    if (setting.run > 0) continue;
    outcome.model = std::move(run.models.front());
    outcome.evaluation = run.evaluation;
    outcome.bytes_up = run.bytes;
    for (size_t i = 0; i < plan.owners.size(); ++i)
      outcome.owners.push_back(
          TRY(share_of(input.charter, i, plan.owners[i].weight, run.answers[i], run.spent[i])));
  }
  return outcome;
}

}  // namespace parley::sim
