#include "parley/forecast/forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/forecast/choose/steps_advice.h"
#include "parley/forecast/column_owners.h"
#include "parley/forecast/cost.h"
#include "parley/forecast/decide/coalitions.h"
#include "parley/forecast/joint.h"
#include "parley/forecast/study.h"
#include "parley/forecast/trained_rows.h"
#include "parley/forecast/uncertainty.h"
#include "parley/forecast/warnings.h"

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

void add_owners(Forecast& result, const Study& study, const MetricEstimator& estimator) {
  const Tally all = study.game.of(study.players);
  const auto shares = shapley(study.game, study.players);
  const auto without = study.game.without_each(study.players);
  const double joint = study.game.reached(all);
  for (size_t i = 0; i < study.players.size(); ++i) {
    const charter::Owner& who = study.charter.owners[i];
    const double alone = study.game.spread() / study.players[i].rows + study.differ;
    const double variance = study.game.variance_for(without[i], study.players[i], alone);
    Forecast::Owner owner{
        .name = who.name,
        .rows = static_cast<uint64_t>(who.rows),
        .epsilon = who.epsilon,
        .delta = who.delta,
        .weight = study.job.weights[i],
        .local_only = alone - study.game.spread() / study.rows,
        .local_metric = estimator.of_rows(1 / study.players[i].rows - 1 / study.rows),
        .gains = joint < alone,
        .shapley = shares[i].value,
        .shapley_error = shares[i].standard_error};
    if (variance > 0 && std::isfinite(variance))
      owner.break_even_epsilon = study.law.epsilon(variance / study.per_strength(i), who.delta);
    else if (variance > 0)
      owner.break_even_epsilon = 0;  // It counts for so little that any noise will do.
    result.owners.push_back(std::move(owner));
  }
}

void add_coalitions(Forecast& result, const Study& study) {
  const auto add = [&](const std::vector<size_t>& members, double psi, bool best) {
    Forecast::Coalition coalition{{}, psi, best};
    for (size_t i : members) coalition.members.push_back(study.charter.owners[i].name);
    result.what_if.coalitions.push_back(std::move(coalition));
  };
  const Tally all = study.game.of(study.players);
  const Coalition best = best_coalition(study.game, study.players);
  std::vector<size_t> everyone(study.players.size());
  for (size_t i = 0; i < everyone.size(); ++i) everyone[i] = i;
  add(everyone, study.game.reached(all), best.members == everyone);
  if (best.members != everyone) add(best.members, best.psi, true);
  if (everyone.size() < 2 || everyone.size() > kEnumerated) return;
  const auto without = study.game.without_each(study.players);
  for (size_t left_out = 0; left_out < everyone.size(); ++left_out) {
    std::vector<size_t> members = everyone;
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(left_out));
    if (members != best.members) add(members, study.game.reached(without[left_out]), false);
  }
}

void add_epsilons(Forecast& result, const Study& study, const std::optional<double>& target) {
  EpsilonForecast& epsilons = result.epsilons;
  double least = std::numeric_limits<double>::infinity();
  for (const Player& player : study.players)
    least = std::min(least, study.game.spread() / player.rows + study.differ);
  epsilons.smallest_common = common_epsilon(study, least * (1 - 1e-9));
  const double floor = study.game.response().floor() + study.game.spread() / study.rows;
  epsilons.enough = common_epsilon(study, floor + .1 * (least - floor));
  epsilons.target = target;
  if (!target) return;
  epsilons.for_target = common_epsilon(study, *target + study.game.spread() / study.rows);
  epsilons.rows_for_target = rows_for(study, *target);
}

/// Of an owner's own luck: its model of n rows misses a sum of squares, as many as directions.
double luck_of(const PilotStatistics& statistics) {
  return std::sqrt(2 / static_cast<double>(statistics.dimension()));
}

void add_certainty(Forecast& result, const Study& study, double error) {
  const double own = std::hypot(luck_of(study.statistics), std::min(error, 1.0));
  for (Forecast::Owner& owner : result.owners)
    owner.sure = surely(result.relative_fitness, owner.local_only, own);
}

/// For whom it pays where owners hold rows; column_owners.h has the other case.
void add_row_owners(Forecast& result, const Study& study, const MetricEstimator& estimator,
                    const std::optional<double>& target, double error) {
  add_owners(result, study, estimator);
  add_coalitions(result, study);
  add_epsilons(result, study, target);
  add_certainty(result, study, error);
  add_break_even(result, study);
  if (!study.job.strictest) add_scenarios(result, study);
}

}  // namespace

size_t Forecast::gaining() const {
  return static_cast<size_t>(std::count_if(owners.begin(), owners.end(),
                                           [](const Owner& o) { return o.sure && o.gains; }));
}

size_t Forecast::losing() const {
  return static_cast<size_t>(std::count_if(owners.begin(), owners.end(),
                                           [](const Owner& o) { return o.sure && !o.gains; }));
}

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
  const plan::NoiseLaw law = TRY(plan::NoiseLaw::of(charter));
  const double n = owners_rows(charter), best = statistics.fitness(n);
  tell_apart(job, statistics, options.differ * best, options.owners);
  const Views views =
      views_of(charter.model, statistics, as_trained(charter, options.redrawn), options.threads);
  Prediction prediction = predict(statistics, job, {.threads = options.threads});
  const auto runs = response_runs(statistics, job, prediction);
  Meanwhile meanwhile;
  if (runs) meanwhile = {ResponseRuns::kCount, [&](size_t k) { runs->run(k); }};
  const PilotError error =
      pilot_error(views, statistics, job, prediction, n, options.threads, meanwhile);
  prediction.optimisation += error.curvature * best;
  prediction.excess += error.curvature * best;
  const Response response = response_of(statistics, job, prediction, runs.get(), options.threads);
  const Game game(response.scaled(1 / best), statistics.sampling / best,
                  statistics.sampling / best / statistics.count(), game_weights(charter),
                  job.variance(), job.strictest ? GameNoise::kStrictest : GameNoise::kSum);
  Study study{charter, statistics,    job,  prediction, law,           game,
              {},      job.strengths, best, n,          options.differ};
  const bool columns = charter.columns_apart();
  for (size_t i = 0; i < job.variances.size(); ++i)
    study.players.push_back(
        {columns ? n : static_cast<double>(charter.owners[i].rows), job.variances[i]});
  const MetricEstimator estimator(charter, statistics,
                                  views.redrawn ? std::vector<PilotStatistics>() : views.statistics,
                                  options.threads);

  const double unsure = columns || job.strictest ? with_owners_luck(statistics, error.relative,
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
                            .paid = views.redrawn},
                  .optimum = {.fitness = best}};
  add_parts(result, study);
  add_distance(result, study);
  add_metrics(result, study, estimator);
  add_band(result, study, estimator, unsure);
  add_grid(result, study);
  if (columns)
    TRY(add_column_owners(result, study, options));
  else
    add_row_owners(result, study, estimator, options.target, unsure);
  add_comparison(result, study, options.compare, options.threads);
  if (options.market) TRY(add_market(result, study, *options.market));
  result.cost = cost_of(charter);
  if (std::holds_alternative<FederatedJob>(job.kind))
    result.advice.steps = advise_steps(
        {charter, statistics, *pilot, job, prediction, best, options.aggregation_price});
  add_warnings(result, charter, prediction, disagreement(charter.model, statistics));
  if (columns || job.strictest) warn_of_samples(result, unsure);
  if (job.strictest) warn_of_differences(result, options.differ);
  return result;
}

}  // namespace parley::forecast
