#include "studies/paper/async.h"

#include <memory>
#include <queue>
#include <utility>

#include "parley/plan/can_run.h"
#include "parley/plan/learner/async_plan.h"
#include "parley/plan/noise.h"
#include "parley/sim/poisson_clocks.h"
#include "parley/sim/seeded_entropy.h"

namespace parley::paper {
namespace {

using charter::Charter, charter::not_available;
using sim::PoissonClocks, sim::SeededEntropy, sim::SimulateInput;

Result<void> check_literal_async(const Charter& charter) {
  TRY(plan::check_complete(charter));
  if (charter.privacy.mechanism != charter::MechanismName::kLaplace)
    return not_available("privacy.mechanism", name_of(charter.privacy.mechanism),
                         "The paper's noise is \"laplace\".");
  if (charter.protocol.learners.owner)
    return not_available("protocol.owner_learner", name_of(*charter.protocol.learners.owner),
                         "Name a learner that is not an owner.");
  return {};
}

}  // namespace

Result<Async> Async::make(const SimulateInput& input, int threads) {
  const Charter& charter = input.charter;
  TRY(check_literal_async(charter));
  Async async(plan::async_rule(charter));
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    const charter::Owner& owner = charter.owners[i];
    const learn::Losses loss = charter::loss_of(charter.model);
    async.owners_.push_back({.name = owner.name,
                             .mean_loss = learn::Fitness(loss, async.rule_.dimension, 0, threads),
                             .scale = TRY(plan::paper_scale(charter, owner)),
                             .rate = owner.rate});
    std::visit([&](const auto& kind) { async.owners_.back().mean_loss.add(*kind); },
               input.owners[i].rows);
  }
  return async;
}

NotPrivate<Async::Ending> Async::run(uint64_t seed, uint64_t run, const After& after) const {
  learn::AsyncDescent descent(rule_);
  PoissonClocks clocks(seed, run);
  SeededEntropy entropy(seed, "paper", run);
  using Tick = std::pair<double, size_t>;
  std::priority_queue<Tick, std::vector<Tick>, std::greater<>> ticks;
  for (size_t i = 0; i < owners_.size(); ++i) {
    clocks.add(owners_[i].rate);
    ticks.push({clocks.gap(i), i});
  }
  Ending ending{{}, std::vector<uint32_t>(owners_.size())};
  while (!descent.finished()) {
    const auto [time, i] = ticks.top();
    ticks.pop();
    ticks.push({time + clocks.gap(i), i});
    std::vector<double> answer = owners_[i].mean_loss.gradient(descent.middle(i));
    for (double& value : answer) value += real_laplace(entropy, owners_[i].scale);
    descent.step(i, answer);
    ++ending.answers[i];
    after(descent.rounds_done(), descent.output());
  }
  ending.model = descent.output();
  return {std::move(ending)};
}

}  // namespace parley::paper
