#include "parley/forecast/forecast.h"

#include <cmath>

#include "parley/forecast/choose/choose.h"
#include "parley/forecast/owners/verdict.h"
#include "parley/forecast/pilot/statistics.h"
#include "parley/forecast/study.h"
#include "parley/forecast/uncertainty.h"

namespace parley::forecast {
namespace {

using charter::Charter;

GameWeights game_weights(const Charter& charter) {
  switch (charter.protocol.weights) {
    case charter::Weights::kNoiseOptimal:
      return GameWeights::kOptimal;
    case charter::Weights::kParties:
      return GameWeights::kAlike;
    default:
      return GameWeights::kRows;
  }
}

Result<double> worth_of(const ForecastOptions& options, Measure measure) {
  if (options.worth && !(*options.worth > 0 && std::isfinite(*options.worth)))
    return Error{Code::kInvalid, "the least gain that counts must be above 0",
                 "Give --worth 0.005 for half a percent of RMSE, or 0.002 of AUC."};
  return options.worth.value_or(default_worth(measure));
}

}  // namespace

Result<Forecast> forecast(const Charter& charter, const std::shared_ptr<const data::Rows>& pilot,
                          const ForecastOptions& options) {
  TRY(charter::check_protects(charter));
  if (pilot == nullptr)
    return Error{Code::kInvalid,
                 "a forecast needs public rows, and the charter has no [pilot]",
                 "Add a [pilot]: rows that are public, or that owners agree to publish.",
                 {.key = "pilot"}};
  const PilotStatistics statistics =
      statistics_of(charter.model, as_trained(charter, pilot), options.threads);
  Job job = TRY(job_of(charter, statistics, pilot.get()));
  const PilotScores scores = pilot_scores(statistics, options.threads);
  const PilotMetric metric = TRY(pilot_metric(
      statistics, scores, options.log_loss ? Measure::kLogLoss : measure_of(charter, statistics),
      charter.schema.target.scale, options.sites));
  const double worth = TRY(worth_of(options, metric.measure));
  const plan::NoiseLaw law = TRY(plan::NoiseLaw::of(charter));
  const double n = owners_rows(charter), best = statistics.fitness(n);
  const double differ = options.differ_at(best);
  set_differences(job, statistics, differ * best, options.owners);
  const Resamples resamples =
      resamples_of(charter.model, statistics, as_trained(charter, options.redrawn), options.threads);
  Prediction prediction = predict(statistics, job, {.threads = options.threads});
  const auto runs = response_runs(statistics, job, prediction);
  Meanwhile meanwhile;
  if (runs) meanwhile = {ResponseRuns::kCount, [&](size_t k) { runs->run(k); }};
  const PilotError error =
      pilot_error(resamples, statistics, job, prediction, n, options.threads, meanwhile);
  prediction.optimisation += error.curvature * best;
  prediction.excess += error.curvature * best;
  const Response response = response_of(statistics, job, prediction, runs.get(), options.threads);
  Game game(response.scaled(1 / best), statistics.sampling / best,
            statistics.sampling / best / statistics.count(), game_weights(charter), job.variance(),
            job.strictest ? GameNoise::kStrictest : GameNoise::kSum);
  Study study{.charter = charter,
              .statistics = statistics,
              .job = job,
              .prediction = prediction,
              .law = law,
              .game = game,
              .scores = scores,
              .metric = metric,
              .strengths = job.strengths,
              .best = best,
              .rows = n,
              .differ = differ,
              .tau = options.tau.value_or(declared_tau(2 * differ * best)),
              .worth = worth};
  const bool columns = charter.columns_apart();
  for (size_t i = 0; i < job.variances.size(); ++i)
    study.players.push_back(
        {columns ? n : static_cast<double>(charter.owners[i].rows), job.variances[i]});
  if (!columns) game.owners_differ(differ, study.players);
  const double unsure = columns || job.strictest ? with_owners_sampling(statistics, error.relative,
                                                                    prediction.excess / best, n)
                                                 : error.relative;

  Forecast result{.job = {.charter = charter.name,
                          .charter_hash = to_hex(charter.hash),
                          .target_column = charter.schema.target.column,
                          .columns = columns},
                  .basis = {.predictor = prediction.predictor,
                            .why = prediction.why,
                            .others = {"bound"},
                            .pilot_rows = pilot->size(),
                            .paid = resamples.redrawn},
                  .joint = joint_forecast(study, unsure),
                  .differ = {std::string(name_of(study.tau.from)), tau_range(study.tau)},
                  .what_if = {.grid = grid_of(study)}};
  if (columns)
    TRY(add_column_owners(result, study, options));
  else
    add_row_owners(result, study, options);
  if (options.compare) result.basis.others.push_back("pilot_monte_carlo");
  result.joint.comparison = comparison_of(study, options.compare, options.threads);
  if (options.market) result.what_if.market = TRY(market_of(study, *options.market));
  result.cost = cost_of(charter);
  if (std::holds_alternative<FederatedJob>(job.kind))
    result.advice.steps = advise_steps(
        {charter, statistics, *pilot, job, prediction, best, options.aggregation_price});
  add_warnings(result, charter, prediction, disagreement(charter.model, statistics));
  warn_of_thin_columns(result, charter.schema, *pilot);
  if (columns || job.strictest) warn_of_samples(result, unsure);
  if (job.strictest) warn_of_differences(result, differ);
  return result;
}

}  // namespace parley::forecast
