#include "parley/sim/federated.h"

#include <cmath>
#include <utility>

#include "parley/learn/federated/shrink.h"
#include "parley/plan/secagg_terms.h"
#include "parley/sim/ledger_files.h"
#include "parley/sim/world.h"

namespace parley::sim {
namespace {

std::vector<Outcome::Share> shares_of(const plan::SecaggPlan& plan, const JobRun& run) {
  std::vector<Outcome::Share> shares;
  for (size_t i = 0; i < run.owners.size(); ++i) {
    const double scale =
        std::visit([](const auto& known) { return known.scale(); }, plan.owners[i].mechanism);
    shares.push_back({.spent = run.owners[i].spent,
                      .answers = run.owners[i].taken,
                      .weight = plan.weights[i],
                      .noise_scale = scale * std::fabs(plan.unit)});
  }
  return shares;
}

}  // namespace

SigningKey simulated_key(const std::string& owner) {
  return SigningKey::from_seed(TupleBytes().add("simulated").add(owner).sha256());
}

SimulateInput federated_input(const SimulateInput& input) {
  SimulateInput own = input;
  for (charter::Owner& owner : own.charter.owners)
    owner.sign_key = simulated_key(owner.name).public_key();
  const bool shorter = own.charter.protocol.name == charter::ProtocolName::kFederated;
  for (size_t i = 0; shorter && i < own.owners.size(); ++i)
    own.owners[i].rows = learn::shrunk(own.owners[i].rows, own.charter.privacy.max_row_norm);
  return own;
}

Result<Outcome> simulate_federated(const SimulateInput& input, const SimulateOptions& options,
                                   const Reference& reference) {
  const plan::SecaggPlan plan = TRY(plan::secagg_plan(input.charter));
  if (!options.out.empty()) TRY(clear_ledgers(input.charter, options.out));
  Outcome outcome;
  outcome.by_round.resize(static_cast<size_t>(input.charter.protocol.rounds));
  for (JobSetting setting{.input = input, .options = options}; setting.run < options.runs;
       ++setting.run) {
    setting.after = [&](const protocol::Learner& learner) {
      options.progress(input.owners.size());
      outcome.by_round[learner.rounds_done() - 1].push_back(
          reference.relative(reference.pooled.at(learner.trained().theta)));
    };
    JobRun run = TRY(run_job(setting));
    if (setting.run > 0) continue;
    outcome.owners = shares_of(plan, run);
    outcome.model = std::move(run.trained.theta);
    outcome.evaluation = run.trained.evaluation;
    outcome.bytes_up = run.bytes_up, outcome.bytes_down = run.bytes_down;
  }
  return outcome;
}

}  // namespace parley::sim
