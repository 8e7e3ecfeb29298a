#include "parley/forecast/forecast.h"

#include <algorithm>
#include <cmath>
#include <utility>

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

/// How far a forecast is. Whoever hears it may leave by an exception.
class Stages {
 public:
  explicit Stages(const OnProgress& heard) : heard_(heard) {}
  void next() {
    if (heard_) heard_(std::min(++done_, kStages), kStages);
  }

 private:
  static constexpr uint64_t kStages = 8;
  const OnProgress& heard_;
  uint64_t done_ = 0;
};

Result<double> worth_of(const ForecastOptions& options, Measure measure) {
  if (options.worth && !(*options.worth > 0 && std::isfinite(*options.worth)))
    return Error{Code::kInvalid, "the least gain that counts must be above 0",
                 "Give --worth 0.005 for half a percent of RMSE, or 0.002 of AUC."};
  return options.worth.value_or(default_worth(measure));
}

/// A prediction, what other variances of the noise would give, and its error.
struct Predicted {
  Prediction prediction{};
  Response response;
  PilotError error{};
};

/// The prediction includes the cost of the error of the pilot's Hessian.
Predicted predicted(const Resamples& resamples, const PilotStatistics& statistics, const Job& job,
                    double rows, int threads, Stages& stages) {
  Prediction found = predict(statistics, job, {.threads = threads});
  stages.next();
  const auto runs = response_runs(statistics, job, found);
  Meanwhile meanwhile;
  if (runs) meanwhile = {ResponseRuns::kCount, [&](size_t k) { runs->run(k); }};
  const PilotError error = pilot_error(resamples, statistics, job, found, rows, threads, meanwhile);
  stages.next();
  const double best = statistics.fitness(rows);
  found.optimisation += error.curvature * best;
  found.excess += error.curvature * best;
  Response response = response_of(statistics, job, found, runs.get(), threads);
  return {std::move(found), std::move(response), error};
}

std::vector<Player> players_of(const Charter& charter, const Job& job, double rows) {
  std::vector<Player> players;
  for (size_t i = 0; i < job.variances.size(); ++i)
    players.push_back({charter.columns_apart() ? rows : static_cast<double>(charter.owners[i].rows),
                       job.variances[i]});
  return players;
}

/// Secure sums and columns: the interval includes the sampling error of the owners' own rows.
bool sampling_counts(const Charter& charter, const Job& job) {
  return charter.columns_apart() || job.strictest;
}

/// The metric of the best model, and distances between models.
struct JudgedPilot {
  PilotMetric metric{};
  PilotDistances distances{};
};

Result<JudgedPilot> judged_on(const Charter& charter, const PilotStatistics& statistics,
                              const PilotScores& scores, const ForecastOptions& options,
                              std::span<const uint32_t> sites) {
  const Measure measure = options.log_loss ? Measure::kLogLoss : measure_of(charter, statistics);
  return JudgedPilot{
      TRY(pilot_metric(statistics, scores, measure, charter.schema.target.scale, sites)),
      pilot_distances(statistics, scores)};
}

/// The mean of parts of the public rows, whose errors are their own.
JudgedPilot mean_of(const std::vector<JudgedPilot>& parts, const PilotStatistics& all) {
  JudgedPilot mean = parts.front();
  const auto n = static_cast<double>(parts.size());
  const auto average = [&](auto&& member) {
    double sum = 0;
    for (const JudgedPilot& part : parts) sum += member(part) / n;
    return sum;
  };
  PilotMetric& metric = mean.metric;
  metric.in_sample = average([](const auto& part) { return part.metric.in_sample; });
  metric.left_out = average([](const auto& part) { return part.metric.left_out; });
  metric.middle = average([](const auto& part) { return part.metric.middle; });
  metric.slope = average([](const auto& part) { return part.metric.slope; });
  metric.loss = average([](const auto& part) { return part.metric.loss; });
  metric.error =
      std::sqrt(average([](const auto& part) { return std::pow(part.metric.error, 2); }) / n);
  PilotDistances& distances = mean.distances;
  distances.rows = all.rows->size(), distances.columns = all.dimension();
  distances.sampling = {
      average([](const auto& part) { return part.distances.sampling.slopes; }),
      average([](const auto& part) { return part.distances.sampling.intercept; })};
  distances.constant = average([](const auto& part) { return part.distances.constant; });
  distances.clip = average([](const auto& part) { return part.distances.clip; });
  return mean;
}

Result<JudgedPilot> judged(const Charter& charter, const PilotStatistics& statistics,
                           const PilotScores& scores, const ForecastOptions& options) {
  if (options.unseen.empty()) return judged_on(charter, statistics, scores, options, options.sites);
  std::vector<JudgedPilot> parts;
  for (const auto& rows : as_trained(charter, options.unseen)) {
    PilotStatistics part = statistics_of(charter.model, rows, options.threads);
    if (statistics.bias) part.bias = part.dimension() - 1;
    parts.push_back(
        TRY(judged_on(charter, part, pilot_scores(part, options.threads), options, {})));
  }
  return mean_of(parts, statistics);
}

Result<Study> study_of(const Charter& charter, const std::shared_ptr<const data::Rows>& pilot,
                       const ForecastOptions& options, Stages& stages) {
  PilotStatistics statistics = statistics_of(charter, as_trained(charter, pilot), options.threads);
  stages.next();
  Job job = TRY(job_of(charter, statistics, pilot.get()));
  PilotScores scores = pilot_scores(statistics, options.threads);
  const auto [metric, distances] = TRY(judged(charter, statistics, scores, options));
  stages.next();
  const double worth = TRY(worth_of(options, metric.measure));
  const plan::NoiseLaw law = TRY(plan::NoiseLaw::of(charter));
  const double n = owners_rows(charter), best = statistics.fitness(n);
  const double differ = options.differ_at(best);
  set_differences(job, statistics, differ * best, options.owners);
  const Resamples resamples = resamples_of(charter.model, statistics,
                                           as_trained(charter, options.redrawn), options.threads);
  stages.next();
  Predicted found = predicted(resamples, statistics, job, n, options.threads, stages);
  stages.next();
  const double error = sampling_counts(charter, job)
                           ? with_owners_sampling(statistics, found.error.relative,
                                                  found.prediction.excess / best, n)
                           : found.error.relative;
  std::vector<Player> players = players_of(charter, job, n);
  Game game(found.response.scaled(1 / best), statistics.sampling / best,
            statistics.sampling / best / statistics.count(), game_weights(charter), job.variance(),
            job.strictest ? GameNoise::kStrictest : GameNoise::kSum);
  if (!charter.columns_apart()) game.owners_differ(differ, players);
  std::vector<double> strengths = job.strengths;
  const bool intercept = statistics.bias.has_value();
  return Study{.charter = charter,
               .statistics = std::move(statistics),
               .job = std::move(job),
               .prediction = std::move(found.prediction),
               .error = error,
               .redrawn = resamples.redrawn,
               .law = law,
               .game = std::move(game),
               .scores = std::move(scores),
               .metric = metric,
               .distances = distances,
               .players = std::move(players),
               .strengths = std::move(strengths),
               .best = best,
               .rows = n,
               .differ = differ,
               .tau = options.tau.value_or(declared_tau(2 * differ * best, intercept)),
               .worth = worth};
}

void add_all_warnings(Forecast& result, const Study& study, const data::Rows& pilot) {
  const Charter& charter = study.charter;
  add_warnings(result, charter, study.prediction, disagreement(charter.model, study.statistics));
  warn_of_thin_columns(result, charter.schema, pilot);
  if (sampling_counts(charter, study.job)) warn_of_samples(result, study.error);
  if (study.job.strictest) warn_of_differences(result, study.differ);
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
  Stages stages(options.progress);
  const Study study = TRY(study_of(charter, pilot, options, stages));
  const Prediction& prediction = study.prediction;
  Forecast result{.job = {.charter = charter.name,
                          .charter_hash = to_hex(charter.hash),
                          .target_column = charter.schema.target.column,
                          .columns = charter.columns_apart()},
                  .basis = {.predictor = prediction.predictor,
                            .why = prediction.why,
                            .others = {"bound"},
                            .pilot_rows = pilot->size(),
                            .paid = study.redrawn},
                  .joint = joint_forecast(study),
                  .differ = {std::string(name_of(study.tau.from)), tau_range(study.tau)},
                  .what_if = {.grid = grid_of(study)}};
  if (charter.columns_apart())
    TRY(add_column_owners(result, study, options));
  else
    add_row_owners(result, study, options);
  stages.next();
  if (options.compare) result.basis.others.push_back("pilot_monte_carlo");
  result.joint.comparison = comparison_of(study, options.compare, options.threads);
  if (options.market) result.what_if.market = TRY(market_of(study, *options.market));
  result.cost = cost_of(charter);
  if (std::holds_alternative<FederatedJob>(study.job.kind))
    result.advice.steps = advise_steps({charter, study.statistics, *pilot, study.job, prediction,
                                        study.best, options.aggregation_price});
  add_all_warnings(result, study, *pilot);
  stages.next();
  return result;
}

}  // namespace parley::forecast
