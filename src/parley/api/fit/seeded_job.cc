#include "parley/api/fit/seeded_job.h"

#include "parley/api/stopped.h"
#include "parley/plan/can_run.h"
#include "parley/protocol/trained_model.h"
#include "parley/sim/engine/engine.h"
#include "parley/sim/engine/party.h"

namespace parley::api {

Result<learn::Model> run_seeded_job(const SeededJob& job) {
  TRY(plan::can_run(job.charter, 0));
  const sim::SimulateInput input{.charter = job.charter,
                                 .owners = {{.rows = job.rows, .source = "memory"}},
                                 .pilot = job.pilot,
                                 .policies = {}};
  const auto total = static_cast<uint64_t>(job.charter.answers());
  uint64_t done = 0;
  sim::SimulateOptions options{.seed = job.seed, .threads = job.threads};
  options.continue_after_alarm = true;
  options.progress = [&](uint64_t answers) {
    done += answers;
    if (job.go_on && !job.go_on(done, total)) throw Stopped();  // on this thread
  };
  const sim::JobRun run = TRY(sim::run_job({.input = input, .options = options, .journal = false}));
  protocol::Trained trained = run.trained;
  trained.spent = {run.owners[0].spent};
  return protocol::trained_model(job.charter, trained,
                                 {.started = sim::SimulatedClock().now(), .seed = job.seed});
}

}  // namespace parley::api
