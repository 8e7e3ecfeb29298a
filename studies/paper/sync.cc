#include "studies/paper/sync.h"

#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "parley/plan/can_run.h"
#include "parley/plan/learner/pilot.h"
#include "parley/plan/learner/weights.h"
#include "parley/plan/noise.h"
#include "parley/sim/seeded_entropy.h"

namespace parley::paper {
namespace {

using charter::Charter, charter::not_available;
using sim::SeededEntropy, sim::SimulateInput;

Result<void> check_literal(const Charter& charter) {
  const charter::Protocol& p = charter.protocol;
  TRY(plan::check_complete(charter));
  const auto* sync = p.as<charter::Sync>();
  if (sync == nullptr) return not_available("protocol.name", name_of(p.name()), "Use \"sync\".");
  if (sync->rule != charter::Rule::kAlgorithm1 && sync->rule != charter::Rule::kAlgorithm2)
    return not_available("protocol.rule", name_of(sync->rule),
                         "Calibration \"paper\" has \"algorithm1\" and \"algorithm2\".");
  if (charter.privacy.mechanism != charter::MechanismName::kLaplace)
    return not_available("privacy.mechanism", name_of(charter.privacy.mechanism),
                         "The paper's noise is \"laplace\".");
  if (p.weights != charter::Weights::kRows)
    return not_available("protocol.weights", name_of(p.weights), "The paper's are \"rows\".");
  const auto& owner = p.learners.owner;
  if (owner && owner != charter::OwnerLearner::kExact)
    return not_available("protocol.owner_learner", name_of(*owner), "The paper's is \"exact\".");
  if (!charter.central())
    return not_available(p.learners.copies ? "protocol.copies" : "protocol.graph", "paper",
                         "Use calibration \"sound\".");
  if (p.rounds < 3)
    return Error{Code::kInvalid,
                 "the paper's T must be at least 3",
                 "Give protocol.rounds the paper's T.",
                 {.key = "protocol.rounds"}};
  return {};
}

}  // namespace

Result<Sync> Sync::make(const SimulateInput& input, int threads) {
  const Charter& charter = input.charter;
  TRY(check_literal(charter));
  const charter::Protocol& p = charter.protocol;
  const auto rounds = static_cast<uint32_t>(p.rounds);  // T
  std::vector<double> start(charter.schema.features().size());
  if (p.start == charter::Start::kPilot) start = plan::pilot_optimum(charter, *input.pilot);
  const charter::Sync& agreed = *p.as<charter::Sync>();
  const bool first = agreed.rule == charter::Rule::kAlgorithm1;
  Sync sync(first ? learn::algorithm1(rounds - 1, p.step, agreed.average, start)
                  : learn::algorithm2(rounds - 2, p.step, agreed.average, start),
            first ? std::numeric_limits<double>::infinity() : charter.model.box, charter.model.l2);
  const std::vector<double> weights = plan::row_weights(charter);
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    const charter::Owner& owner = charter.owners[i];
    sync.owners_.push_back(
        {.name = owner.name,
         .mean_loss = learn::Fitness(charter::loss_of(charter.model), start.size(), 0, threads),
         .weight = weights[i],
         .scale = TRY(plan::paper_scale(charter, owner))});
    std::visit([&](const auto& kind) { sync.owners_.back().mean_loss.add(*kind); },
               input.owners[i].rows);
  }
  return sync;
}

NotPrivate<std::vector<double>> Sync::run(uint64_t seed, uint64_t run, const After& after,
                                          const Watch& watch) const {
  learn::Descent descent(schedule_, box_, l2_, 1);
  std::vector<std::unique_ptr<SeededEntropy>> streams;
  for (const Owner& owner : owners_)
    streams.push_back(std::make_unique<SeededEntropy>(seed, "paper:" + owner.name, run));
  while (!descent.finished()) {
    std::vector<double> sum(descent.dimension());
    Seen seen{{descent.theta(0).begin(), descent.theta(0).end()}, {}};
    for (size_t i = 0; i < owners_.size(); ++i) {
      std::vector<double> answer = owners_[i].mean_loss.gradient(descent.theta(0));
      for (size_t j = 0; j < sum.size(); ++j) {
        answer[j] += real_laplace(*streams[i], owners_[i].scale);
        sum[j] += owners_[i].weight * answer[j];
      }
      seen.answers.push_back(std::move(answer));
    }
    watch(seen);
    descent.step(sum);
    after(descent.rounds_done(), descent.average(0));
  }
  return {{descent.average(0).begin(), descent.average(0).end()}};
}

}  // namespace parley::paper
