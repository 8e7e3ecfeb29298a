#include "parley/sim/async.h"

#include <utility>

#include "parley/plan/learner/async_plan.h"
#include "parley/plan/terms.h"
#include "parley/sim/ledger_files.h"
#include "parley/sim/world.h"

namespace parley::sim {
namespace {

std::vector<Outcome::Share> shares_of(const charter::Charter& charter, const learn::AsyncRule& rule,
                                      const JobRun& run) {
  std::vector<Outcome::Share> shares;
  for (size_t i = 0; i < run.owners.size(); ++i) {
    const auto terms = plan::terms_for(charter, i);
    check(bool(terms));
    const double scale =
        std::visit([](const auto& mechanism) { return static_cast<double>(mechanism.scale()); },
                   terms->mechanism);
    shares.push_back(
        {.spent = run.owners[i].spent,
         .answers = run.owners[i].taken,
         .weight = rule.owners[i].weight,
         .noise_scale = scale * terms->lattice.gamma() / static_cast<double>(terms->rows)});
  }
  return shares;
}

}  // namespace

bool is_noted(uint64_t round, const learn::AsyncRule& rule) {
  return round % rule.owners.size() == 0 || round == rule.rounds;
}

Result<Outcome> simulate_async(const SimulateInput& input, const SimulateOptions& options,
                               const Reference& reference) {
  const learn::AsyncRule rule = plan::async_rule(input.charter);
  if (!options.out.empty()) TRY(clear_ledgers(input.charter, options.out));
  Outcome outcome;
  for (JobSetting setting{.input = input, .options = options}; setting.run < options.runs;
       ++setting.run) {
    size_t sweep = 0;
    setting.after = [&](const protocol::Learner& learner) {
      options.progress(1);
      if (!is_noted(learner.rounds_done(), rule)) return;
      if (outcome.by_round.size() == sweep) outcome.by_round.emplace_back();
      outcome.by_round[sweep++].push_back(
          reference.relative(reference.pooled.at(learner.trained().theta)));
    };
    JobRun run = TRY(run_job(setting));
    if (setting.run > 0) continue;
    outcome.owners = shares_of(input.charter, rule, run);
    outcome.model = std::move(run.trained.theta);
    outcome.evaluation = run.trained.evaluation;
    outcome.bytes_up = run.bytes_up, outcome.bytes_down = run.bytes_down;
  }
  return outcome;
}

}  // namespace parley::sim
