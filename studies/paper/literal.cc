#include "studies/paper/literal.h"

#include <algorithm>
#include <utility>

#include "parley/plan/can_run.h"
#include "parley/plan/secagg_terms.h"
#include "parley/sim/seeded_entropy.h"
#include "studies/paper/admm.h"
#include "studies/paper/async.h"
#include "studies/paper/federated.h"
#include "studies/paper/sync.h"

namespace parley::paper {
namespace {

using sim::Reference, sim::RunOutcome, sim::SimulateInput, sim::SimulateOptions;

RunOutcome run_async(const SimulateInput& input, const SimulateOptions& options,
                     const Reference& reference, const Async& async, uint64_t run) {
  RunOutcome outcome;
  const auto note = [&](uint64_t round, std::span<const double> output) {
    options.progress(1);
    if (round % input.owners.size() == 0 || round == async.rule().rounds)
      outcome.by_round.push_back(reference.relative_at(output));
  };
  auto result = async.run(options.seed, run, note);
  outcome.model = std::move(result.value.model);
  for (size_t i = 0; i < input.owners.size(); ++i)
    outcome.owners.push_back({.answers = result.value.answers[i],
                              .weight = async.rule().owners[i].weight,
                              .noise_scale = async.noise_scale(i)});
  return outcome;
}

RunOutcome run_sync(const SimulateInput& input, const SimulateOptions& options,
                    const Reference& reference, const Sync& sync, uint64_t run) {
  RunOutcome outcome;
  const auto note = [&](size_t, std::span<const double> output) {
    outcome.by_round.push_back(reference.relative_at(output));
    options.progress(input.owners.size());
  };
  outcome.model = std::move(sync.run(options.seed, run, note).value);
  for (size_t i = 0; i < input.owners.size(); ++i)
    outcome.owners.push_back(
        {.answers = sync.answers(), .weight = sync.weight(i), .noise_scale = sync.noise_scale(i)});
  return outcome;
}

/// Huang's Algorithm 1 (studies/paper/federated.h): T = rounds local_steps, n(1) the smallest
/// owner's rows, and the smallest epsilon for all, since equation (2) has one.
struct Printed {
  FederatedRule rule{};
  uint64_t smallest = 0;
  std::vector<learn::Fitness> owners{};  // J_j of each, the penalty inside
  double deviation() const { return claimed_deviation(rule, owners.size(), smallest); }
};

Result<Printed> printed_of(const SimulateInput& input, int threads) {
  const charter::Charter& charter = input.charter;
  TRY(plan::check_complete(charter));
  const charter::Federated& agreed = *charter.protocol.as<charter::Federated>();
  if (agreed.level != charter::Level::kRecord)
    return charter::not_available("protocol.level", name_of(agreed.level),
                                  "The paper protects records: take \"record\".");
  const learn::LocalUpdate update = TRY(plan::local_update(charter, {}));
  const learn::LocalPlan plan = update.plan();
  Printed printed;
  printed.rule = {.rounds = charter.protocol.rounds * agreed.local_steps,
                  .local_steps = agreed.local_steps,
                  .lipschitz = plan.max_grad_norm > 0 ? plan.max_grad_norm : plan.max_row_norm,
                  .epsilon = charter.owners.front().epsilon,
                  .delta = charter.owners.front().delta,
                  .step = [plan](int64_t t) {
                    return plan.delay > 0 ? plan.step * plan.delay / (plan.delay + double(t - 1))
                                          : plan.step;
                  }};
  printed.smallest = uint64_t(charter.owners.front().rows);
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    const charter::Owner& owner = charter.owners[i];
    printed.rule.epsilon = std::min(printed.rule.epsilon, owner.epsilon);
    printed.smallest = std::min(printed.smallest, uint64_t(owner.rows));
    printed.owners.emplace_back(charter::loss_of(charter.model), charter.schema.features().size(),
                                charter.model.l2, threads);
    std::visit([&](const auto& kind) { printed.owners.back().add(*kind); }, input.owners[i].rows);
  }
  return printed;
}

RunOutcome run_federated(const SimulateInput& input, const SimulateOptions& options,
                         const Reference& reference, const Printed& printed, uint64_t run) {
  RunOutcome outcome;
  sim::SeededEntropy entropy(options.seed, "paper", run);
  const size_t owners = printed.owners.size();
  const auto gradient = [&](size_t owner, std::span<const double> at) {
    return printed.owners[owner].gradient(at);
  };
  const auto note = [&](int64_t t, const std::vector<std::vector<double>>& models) {
    if (t % printed.rule.local_steps != 0) return;
    outcome.by_round.push_back(reference.relative_at(models.front()));
    options.progress(owners);
  };
  outcome.model = federated(printed.rule, owners, printed.smallest,
                            input.charter.schema.features().size(), gradient, entropy, note)
                      .value;
  for (size_t i = 0; i < owners; ++i)
    outcome.owners.push_back({.answers = uint32_t(input.charter.protocol.rounds),
                              .weight = 1 / double(owners),
                              .noise_scale = printed.deviation()});
  return outcome;
}

/// The paper's own formulas: no gate, no ledger, no bytes.
Result<sim::Run> rows_run(const SimulateInput& input, const SimulateOptions& options) {
  if (input.charter.protocol.as<charter::Federated>())
    return sim::Run([&input, &options, paper = TRY(printed_of(input, options.threads))](
                        const Reference& reference, uint64_t run) -> Result<RunOutcome> {
      return run_federated(input, options, reference, paper, run);
    });
  if (input.charter.protocol.one_at_a_time())
    return sim::Run([&input, &options, paper = TRY(Async::make(input, options.threads))](
                        const Reference& reference, uint64_t run) -> Result<RunOutcome> {
      return run_async(input, options, reference, paper, run);
    });
  return sim::Run([&input, &options, paper = TRY(Sync::make(input, options.threads))](
                      const Reference& reference, uint64_t run) -> Result<RunOutcome> {
    return run_sync(input, options, reference, paper, run);
  });
}

}  // namespace

const sim::Literal& literal() {
  static const sim::Literal kLiteral{.rows = rows_run, .columns = admm_job};
  return kLiteral;
}

}  // namespace parley::paper
