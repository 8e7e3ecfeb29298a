#include "studies/paper/literal.h"

#include <utility>

#include "parley/sim/async.h"
#include "studies/paper/admm.h"
#include "studies/paper/async.h"
#include "studies/paper/sync.h"

namespace parley::paper {
namespace {

using sim::Outcome, sim::Reference, sim::SimulateInput, sim::SimulateOptions;

Result<Outcome> run_async(const SimulateInput& input, const SimulateOptions& options,
                          const Reference& reference) {
  const auto async = TRY(Async::make(input, options.threads));
  Outcome outcome;
  for (size_t run = 0; run < options.runs; ++run) {
    size_t sweep = 0;
    const auto note = [&](uint64_t round, std::span<const double> output) {
      options.progress(1);
      if (!sim::is_noted(round, async.rule())) return;
      if (outcome.by_round.size() == sweep) outcome.by_round.emplace_back();
      outcome.by_round[sweep++].push_back(reference.relative(reference.pooled.at(output)));
    };
    auto result = async.run(options.seed, run, note);
    if (run > 0) continue;
    outcome.model = std::move(result.value.model);
    for (size_t i = 0; i < input.owners.size(); ++i)
      outcome.owners.push_back({.answers = result.value.answers[i],
                                .weight = async.rule().owners[i].weight,
                                .noise_scale = async.noise_scale(i)});
  }
  return outcome;
}

/// The paper's own formulas: no gate, no ledger, no bytes.
Result<Outcome> run_rows(const SimulateInput& input, const SimulateOptions& options,
                         const Reference& reference) {
  if (input.charter.protocol.name == charter::ProtocolName::kAsync)
    return run_async(input, options, reference);
  const auto sync = TRY(Sync::make(input, options.threads));
  Outcome outcome{.by_round = std::vector<std::vector<double>>(sync.answers())};
  for (size_t run = 0; run < options.runs; ++run) {
    const auto note = [&](size_t round, std::span<const double> output) {
      outcome.by_round[round - 1].push_back(reference.relative(reference.pooled.at(output)));
      options.progress(input.owners.size());
    };
    auto model = sync.run(options.seed, run, note);
    if (run == 0) outcome.model = std::move(model.value);
  }
  for (size_t i = 0; i < input.owners.size(); ++i)
    outcome.owners.push_back(
        {.answers = sync.answers(), .weight = sync.weight(i), .noise_scale = sync.noise_scale(i)});
  return outcome;
}

}  // namespace

const sim::Literal& literal() {
  static const sim::Literal kLiteral{.rows = run_rows, .columns = admm_job};
  return kLiteral;
}

}  // namespace parley::paper
