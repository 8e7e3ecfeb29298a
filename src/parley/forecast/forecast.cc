#include "parley/forecast/forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/forecast/cost.h"
#include "parley/forecast/decide/coalitions.h"
#include "parley/forecast/judge.h"
#include "parley/forecast/study.h"
#include "parley/forecast/uncertainty.h"
#include "parley/forecast/warnings.h"

namespace parley::forecast {
namespace {

using charter::Charter;

GameWeights game_weights(const Charter& charter) {
  return charter.protocol.weights == charter::Weights::kNoiseOptimal ? GameWeights::kOptimal
                                                                     : GameWeights::kRows;
}

void add_owners(Forecast& result, const Study& study, const Judge& judge) {
  const Tally all = study.game.of(study.players);
  const auto shares = shapley(study.game, study.players);
  const double joint = study.game.reached(all);
  for (size_t i = 0; i < study.players.size(); ++i) {
    const charter::Owner& who = study.charter.owners[i];
    const double alone = study.game.spread() / study.players[i].rows + study.differ;
    Tally others = all;
    others -= study.game.of(study.players[i]);
    const double variance = study.game.variance_for(others, study.players[i], alone);
    Forecast::Owner owner{.name = who.name,
                          .rows = static_cast<uint64_t>(who.rows),
                          .epsilon = who.epsilon,
                          .delta = who.delta,
                          .weight = study.job.weights[i],
                          .local_only = alone - study.game.spread() / study.rows,
                          .local_metric = judge.of_rows(1 / study.players[i].rows - 1 / study.rows),
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
    result.coalitions.push_back(std::move(coalition));
  };
  const Tally all = study.game.of(study.players);
  const Coalition best = best_coalition(study.game, study.players);
  std::vector<size_t> everyone(study.players.size());
  for (size_t i = 0; i < everyone.size(); ++i) everyone[i] = i;
  add(everyone, study.game.reached(all), best.members == everyone);
  if (best.members != everyone) add(best.members, best.psi, true);
  if (everyone.size() < 2 || everyone.size() > kEnumerated) return;
  for (size_t left_out = 0; left_out < everyone.size(); ++left_out) {
    std::vector<size_t> members = everyone;
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(left_out));
    Tally group = all;
    group -= study.game.of(study.players[left_out]);
    if (members != best.members) add(members, study.game.reached(group), false);
  }
}

void add_epsilons(Forecast& result, const Study& study, const std::optional<double>& target) {
  double least = std::numeric_limits<double>::infinity();
  for (const Player& player : study.players)
    least = std::min(least, study.game.spread() / player.rows + study.differ);
  result.smallest_common = common_epsilon(study, least * (1 - 1e-9));
  const double floor = study.game.response().floor() + study.game.spread() / study.rows;
  result.enough = common_epsilon(study, floor + .1 * (least - floor));
  result.target = target;
  if (!target) return;
  result.epsilon_for_target = common_epsilon(study, *target + study.game.spread() / study.rows);
  result.rows_for_target = rows_for(study, *target);
}

/// The relative half width of a 90 % interval of a mean of five (Student's t, four degrees).
constexpr double kStudent = 2.132;
/// The same of a normal number.
constexpr double kNormal = 1.645;

void add_band(Forecast& result, const Study& study, const Judge& judge, double error) {
  std::vector<double> draws = excess_draws(study.facts, study.prediction);
  const double shift = result.mean * study.best - study.prediction.excess;  // of the weights
  for (double& draw : draws) draw = (draw + shift) / study.best;
  result.p25 = quantile(draws, .25);
  result.p50 = quantile(draws, .5);
  result.p75 = quantile(draws, .75);
  const double wide = std::exp(std::min(kStudent * error, 5.0));
  result.low = quantile(draws, .05) / wide;
  result.high = quantile(draws, .95) * wide;
  // In the user's metric: what the band moves it by, and how well its level is known.
  const double per_psi = (result.metric_joint - result.metric_best) / result.mean;
  const auto moved = [&](double psi) { return (psi - result.mean) * per_psi; };
  const double level = kNormal * judge.error();
  const double down = std::min(moved(result.low), moved(result.high));
  const double up = std::max(moved(result.low), moved(result.high));
  result.metric_low = result.metric_joint - std::hypot(down, level);
  result.metric_high = result.metric_joint + std::hypot(up, level);
  if (!judge.smaller_is_better()) result.metric_high = std::min(result.metric_high, 1.0);
}

/// Of an owner's own luck: its model of n rows misses a sum of squares, as many as directions.
double luck_of(const Facts& facts) { return std::sqrt(2 / static_cast<double>(facts.dimension())); }

/// Expected values say who gains; that an owner surely does takes more than the 90 % interval of
/// runs and what the public rows leave unknown of the owner's own model.
void add_certainty(Forecast& result, const Study& study, double error) {
  const double joint = std::log(result.high / result.low) / (2 * kNormal);
  const double own = std::hypot(luck_of(study.facts), std::min(error, 1.0));
  for (Forecast::Owner& owner : result.owners)
    owner.sure =
        std::fabs(std::log(result.mean / owner.local_only)) > kNormal * std::hypot(joint, own);
}

void add_parts(Forecast& result, const Study& study) {
  const double n = study.rows;
  double sampling = 0, gain = 0;  // what the weights cost, and what others' rows are worth
  for (size_t i = 0; i < study.players.size(); ++i) {
    const double off = study.job.weights[i] - study.players[i].rows / n;
    sampling += (study.game.spread() / study.players[i].rows + study.differ) * off * off;
    gain += study.game.spread() * (1 / study.players[i].rows - 1 / n) /
            static_cast<double>(study.players.size());
  }
  result.optimisation = study.prediction.optimisation / study.best;
  result.privacy = (study.prediction.excess - study.prediction.optimisation) / study.best;
  result.statistical_gain = sampling - gain;
  result.mean = study.prediction.excess / study.best + sampling;
  result.pilot_only = study.game.spread() * (1 / study.facts.count() + 1 / n);
}

void add_distance(Forecast& result, const Study& study) {
  constexpr size_t kModels = 300;
  const Landing& landing = study.prediction.landing;
  const std::vector<double>& best = study.facts.optimum.theta;
  double square = 0;
  for (size_t j = 0; j < best.size(); ++j)
    square += std::pow(landing.mean[j] - best[j], 2) + landing.covariance[j * (best.size() + 1)];
  result.distance_root = std::sqrt(square);
  for (const auto& model : models_of(landing, study.facts.box, kModels)) {
    double off = 0;
    for (size_t j = 0; j < best.size(); ++j) off += std::pow(model[j] - best[j], 2);
    result.distance += std::sqrt(off) / kModels;
  }
}

void add_metrics(Forecast& result, const Study& study, const Judge& judge) {
  result.metric = judge.name();
  result.target_column = study.charter.schema.target.column;
  result.metric_best = judge.of_rows(0);
  result.metric_joint = judge.at(study.prediction.landing);
  result.metric_pilot = judge.of_rows(1 / study.facts.count() + 1 / study.rows);
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

Result<Forecast> forecast(const Charter& charter, const std::shared_ptr<const learn::Rows>& pilot,
                          const ForecastOptions& options) {
  if (pilot == nullptr)
    return Error{Code::kInvalid,
                 "a forecast needs public rows, and the charter has no [pilot]",
                 "Add a [pilot]: rows that are public, or that owners agree to publish.",
                 {.key = "pilot"}};
  const Facts facts = facts_of(charter.model, pilot, options.threads);
  Job job = TRY(job_of(charter, facts));
  const NoiseLaw law = TRY(NoiseLaw::of(charter));
  const double n = owners_rows(charter), best = facts.fitness(n);
  tell_apart(job, facts, options.differ * best, options.owners);
  const Views views = views_of(charter.model, facts, options.redrawn, options.threads);
  Prediction prediction = predict(facts, job, {.threads = options.threads});
  const auto runs = response_runs(facts, job, prediction);
  Meanwhile meanwhile;
  if (runs) meanwhile = {ResponseRuns::kCount, [&](size_t k) { runs->run(k); }};
  const PilotError error =
      pilot_error(views, facts, job, prediction, n, options.threads, meanwhile);
  prediction.optimisation += error.curvature * best;
  prediction.excess += error.curvature * best;
  const Response response = response_of(facts, job, prediction, runs.get());
  const Game game(response.scaled(1 / best), facts.sampling / best,
                  facts.sampling / best / facts.count(), game_weights(charter), job.variance());
  Study study{charter, facts, job, prediction, law, game, {}, best, n, options.differ};
  for (size_t i = 0; i < charter.owners.size(); ++i)
    study.players.push_back({static_cast<double>(charter.owners[i].rows), job.variances[i]});
  const Judge judge(charter, facts, views.redrawn ? std::vector<Facts>() : views.facts,
                    options.threads);

  Forecast result{.charter_name = charter.name,
                  .charter_hash = to_hex(charter.hash),
                  .pilot_rows = pilot->size(),
                  .predictor = prediction.predictor,
                  .why = prediction.why,
                  .others = {"bound"},
                  .fitness = best};
  add_parts(result, study);
  add_distance(result, study);
  add_metrics(result, study, judge);
  add_owners(result, study, judge);
  add_coalitions(result, study);
  add_epsilons(result, study, options.target);
  add_band(result, study, judge, error.relative);
  add_certainty(result, study, error.relative);
  add_grid(result, study);
  add_break_even(result, study);
  add_scenarios(result, study);
  add_comparison(result, study, options.compare, options.threads);
  if (options.market) TRY(add_market(result, study, *options.market));
  add_cost(result, charter);
  result.paid = views.redrawn;
  add_warnings(result, charter, prediction, disagreement(charter.model, facts));
  return result;
}

}  // namespace parley::forecast
