#include "studies/paper/literal.h"

#include <utility>

#include "studies/paper/admm.h"
#include "studies/paper/async.h"
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

/// The paper's own formulas: no gate, no ledger, no bytes.
Result<sim::Run> rows_run(const SimulateInput& input, const SimulateOptions& options) {
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
