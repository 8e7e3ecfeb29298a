#include "parley/sim/vertical.h"

#include <cmath>
#include <utility>

#include "parley/protocol/vertical/setting.h"
#include "parley/sim/columns.h"
#include "parley/sim/world.h"

namespace parley::sim {
namespace {

using charter::Charter;

/// Of the noise: on the mean gradient or moment, or, under noisy sharing, on one score.
double noise_scale(const plan::VerticalTerms& terms) {
  if (terms.noisy) return std::ldexp(terms.noise.scale(), -terms.noisy->fraction);
  if (terms.beside)
    return std::ldexp(terms.beside->scale(), -2 * terms.plan.bits) / double(terms.plan.rows);
  return terms.noise.scale() * terms.plan.unit() / double(terms.plan.rows);
}

Result<ColumnsRun> train(const SimulateInput& input, const SimulateOptions& options, uint64_t run) {
  JobRun job = TRY(run_job(
      {.input = input, .options = options, .run = run, .after = [&](const protocol::Learner&) {
         options.progress(input.charter.owners.size());
       }}));
  ColumnsRun done{.parts = std::move(job.parts),
                  .manifest = std::move(job.trained.manifest),
                  .bytes_up = job.bytes_up,
                  .bytes_down = job.bytes_down};
  for (const JobRun::Owner& owner : job.owners)
    done.owners.push_back({owner.spent.epsilon, owner.taken});
  return done;
}

/// Owners with ledgers, a dealer, and everything in bytes.
Result<ColumnsJob> private_job(const SimulateInput& input, const SimulateOptions& options) {
  const plan::VerticalTerms terms = TRY(plan::vertical_terms(input.charter));
  return ColumnsJob{.plan = terms.plan,
                    .why_not_private = "simulation: the noise can be replayed from its seed",
                    .noise_scale = noise_scale(terms),
                    .train = [&input, &options](const Joined&, uint64_t run) {
                      return train(input, options, run);
                    }};
}

}  // namespace

Result<SimulateResult> simulate_vertical(const SimulateInput& input, const SimulateOptions& options,
                                         const Literal* paper) {
  const bool admm = input.charter.protocol.rule == charter::Rule::kAdmm;
  const auto job = TRY(admm ? paper->columns(input, options) : private_job(input, options));
  return simulate_columns(input, options, job);
}

}  // namespace parley::sim
