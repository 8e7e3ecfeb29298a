// H-comm: what K local steps save, in bytes that secure aggregations really send.
#include <fmt/format.h>

#include "parley/sim/engine/engine.h"
#include "parley/sim/load.h"
#include "parley/sim/outcome.h"
#include "studies/reproduce/curve.h"
#include "studies/reproduce/federated/training.h"
#include "studies/reproduce/figures.h"

namespace parley::reproduce {
namespace federated {
namespace {

constexpr int kClinics = 10, kLocalSteps = 100;

/// Ten owners of 200 loans each; T = 100 local steps, K of them between aggregations.
std::string charter_text(int steps) {
  std::string text = fmt::format(
      "[charter]\nversion = 1\nname = \"clinics\"\nconsortium = \"clinics.example\"\n"
      "[target]\ncolumn = \"int_rate\"\nbounds = [5.0, 29.0]\ncenter = 13.25\nscale = 15.75\n"
      "[[column]]\nname = \"pc\"\ncount = 10\nkind = \"number\"\nbounds = [-40.0, 40.0]\n"
      "missing = 0.0\n[model]\nloss = \"squared\"\nl2 = 1e-2\nbox = 1.0\n"
      "[protocol]\nname = \"federated\"\nrounds = {}\nlocal_steps = {}\nstep = 0.3\n"
      "[privacy]\nmax_row_norm = 1.0\nmax_grad_norm = 2.0\ndelta = 1e-6\n"
      "[secure_aggregation]\nrepeats = 0\n",
      kLocalSteps / steps, steps);
  for (int i = 0; i < kClinics; ++i)
    text += fmt::format("[[owner]]\nname = \"clinic-{}\"\nrows = 200\nepsilon = 10.0\n", i);
  return text + "[learner]\nname = \"registry\"\n";
}

/// Bytes that an owner sends in the whole job, in messages as on a network.
Result<double> bytes_sent(int steps, uint64_t seed) {
  const charter::Charter charter =
      TRY(charter::parse_charter(charter_text(steps), "clinics.charter.toml", "."));
  const sim::SimulateInput input =
      sim::as_trained(TRY(sim::load_standin(charter, "lending", seed)));
  const sim::SimulateOptions options{.seed = seed};
  const sim::JobRun run = TRY(sim::run_job({.input = input, .options = options, .journal = false}));
  return double(run.bytes_up) / kClinics;
}

}  // namespace
}  // namespace federated

using namespace federated;

Result<Figure> federated_communication(const Study& study) {
  Figure figure =
      federated_figure(study, "H-comm", "algorithm, discussion", "what K local steps save",
                       "Compared with their work, our algorithm has less communication cost and "
                       "less computation cost "
                       "since workers only communicate and perform MPC when t ∈ {nK, n = 1, 2, …}. "
                       "[…] the choice of "
                       "large K will introduce the error […], but reduce the communication cost by "
                       "a factor of 1/K.");
  Curve kilobytes;
  for (int steps : {1, 2, 5, 10, 20, 50})
    kilobytes.add(steps, {TRY(bytes_sent(steps, study.seed)) / 1000, 0});
  figure.panels = {{.title = "T = 100 local steps, ten owners",
                    .x = {.label = "local steps K between aggregations", .log = true},
                    .y = {.label = "sent by an owner", .unit = "kB", .log = true},
                    .series = {kilobytes.series("measured"), kilobytes.line(-1, "as 1/K")}}};
  Measure slope =
      between("slope over K of the bytes that an owner sends", kilobytes.slope(), -1.1, -.9);
  slope.paper = -1, slope.kind = Quantity::kExponent;
  figure.measures = {slope, beside("kB that an owner sends, K = 1", {kilobytes.y.front(), 0}),
                     beside("kB that an owner sends, K = 50", {kilobytes.y.back(), 0})};
  figure.settings = {{"counted",
                      "all messages of a job under secure aggregation, greetings and keys "
                      "among them; 10 columns"}};
  figure.data = "200 made-up loans for each owner";
  return figure;
}

}  // namespace parley::reproduce
