#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "parley/forecast/study.h"
#include "parley/learn/pilot/wrong_pilot.h"

namespace parley::forecast {
namespace {

/// Below, forecasts of the hinge loss were found to be unreliable because of its kink
/// (docs/explanation/forecasting.md, "hinge floor").
constexpr double kHingeFloor = 2e-3;

bool steps_can_diverge(const charter::Charter& charter) {
  return charter.model.loss != charter::Loss::kHinge;
}

void about_the_predictor(Forecast& f, const charter::Charter& charter, const Prediction& p,
                         double disagreement) {
  const RelativeFitness& psi = f.joint.relative_fitness;
  const auto warn = [&](std::string code, std::string text, std::string what_to_do) {
    f.advice.warnings.push_back({std::move(code), std::move(text), std::move(what_to_do)});
  };
  if (p.smallest_gain < .9)
    warn("box_saturation",
         fmt::format("noise carries coefficients to the box (it holds back {:.0f} % of moves): the "
                     "model is next to worthless",
                     100 * (1 - p.smallest_gain)),
         "Take fewer rounds, a smaller clip, or larger budgets.");
  else if (p.predictor == "pilot_monte_carlo")
    warn("by_runs", "no closed form applies: 128 runs on the public rows, good to about 10 %",
         "Read the figure as an order of magnitude.");
  if (steps_can_diverge(charter) && p.stability >= 2)
    warn("unstable",
         fmt::format("the first steps are {:.2g} times the inverse curvature; from 2 on they "
                     "overshoot further and further",
                     p.stability),
         "Take a shorter protocol.step.");
  if (psi.optimisation > psi.privacy)
    warn("more_epsilon_will_not_help",
         fmt::format("{:.0f} % of the loss above the best would be there without noise",
                     100 * psi.optimisation / (psi.optimisation + psi.privacy)),
         "Take more rounds or longer steps; a larger epsilon changes little.");
  if (charter.model.loss == charter::Loss::kHinge && psi.mean < kHingeFloor)
    warn("hinge_floor", "below 0.002 a forecast for the hinge loss only says: below 0.002",
         "Do not read more into the figure.");
  if (p.clipped > .2)
    warn("clipped",
         fmt::format("{:.0f} % of the public records are clipped, so that the job minimises "
                     "another loss than the model's",
                     100 * p.clipped),
         "Take a larger privacy.max_grad_norm.");
  if (charter.protocol.one_at_a_time() && p.clipped > .001 && p.predictor == "moments")
    warn("async_clip",
         fmt::format("{:.1f} % of the public records are clipped, which the asynchronous forecast "
                     "ignores",
                     100 * p.clipped),
         "Take the figure for an unclipped job.");
  if (psi.drift > .2 * psi.mean)
    warn("local_steps_drift",
         fmt::format("{:.0f} % of the loss above the best is there because local models drift "
                     "apart",
                     100 * psi.drift / psi.mean),
         "Take fewer protocol.local_steps between aggregations.");
  if (disagreement > 3)
    warn("pilot_drift",
         fmt::format("the two halves of the public rows disagree {:.0f} times more than chance: "
                     "they are not one sample, and owners' rows may differ again",
                     disagreement),
         "Take public rows of all times and places; keep a paid evaluation (privacy.evaluate).");
}

/// Noise is calibrated for the fewest survivors and the most colluders; usually all owners answer.
void about_shares(Forecast& f, const charter::Charter& charter) {
  if (!charter.secure_aggregation) return;
  const charter::SecureAggregation& secure = *charter.secure_aggregation;
  const auto honest = static_cast<double>(secure.survivors - secure.colluders);
  const double surplus = static_cast<double>(charter.owners.size()) / honest;
  if (surplus < 1.5) return;
  f.advice.warnings.push_back(
      {"surplus_noise",
       fmt::format("if all {} owners are there, their sum has {:.2g} times the variance of noise "
                   "that is charged for: {} survivors of whom {} collude must be enough",
                   f.owners.size(), surplus, secure.survivors, secure.colluders),
       "Take more secure_aggregation.survivors, or fewer colluders."});
}

/// The joint model may be worse for an owner than its own model, while its personal model is not.
bool worse_than_alone(const Forecast& f, const Forecast::Owner& owner) {
  const double better = owner.joint.mean - owner.alone.mean;
  return (f.joint.metric.name == "auc" ? -better : better) > owner.against_alone.threshold;
}

void about_the_owners(Forecast& f) {
  const auto count = [&](const auto& is) {
    return std::count_if(f.owners.begin(), f.owners.end(), is);
  };
  const auto warn = [&](std::string code, std::string text, std::string what_to_do) {
    f.advice.warnings.push_back({std::move(code), std::move(text), std::move(what_to_do)});
  };
  if (const auto worse = count([&](const auto& o) { return worse_than_alone(f, o); }); worse > 0)
    warn("worse_than_alone",
         fmt::format(
             "for {} of {} owners the joint model itself is worse than a model of their own {}",
             worse, f.owners.size(), f.job.columns ? "columns" : "rows"),
         f.job.columns ? "See the table: at which epsilon it would pay."
                       : "They need a personal model: the joint one mixed with their own.");
  const auto unsure =
      count([](const auto& o) { return o.against_alone.answer == GainAnswer::kNotSure; });
  if (f.owners.front().against_alone.rare)
    warn("rare_class",
         "the public rows hold fewer than two of the smaller class for every column: no verdict "
         "can be sure",
         "Take more public rows of that class, or fewer columns.");
  else if (unsure > 0)
    warn("not_sure",
         fmt::format("for {} of {} owners the public rows do not tell whether the gain counts",
                     unsure, f.owners.size()),
         "Take more public rows, or decide by the interval, not by the expected value.");
}

void about_the_job(Forecast& f, const charter::Charter& charter) {
  if (f.joint.relative_fitness.mean > f.joint.relative_fitness.pilot_only)
    f.advice.warnings.push_back(
        {"worse_than_pilot",
         "the joint model is expected to be no better than the public rows alone",
         "Larger budgets, fewer rounds, or no collaboration at all."});
  about_the_owners(f);
  const bool by_rows = charter.protocol.weights == charter::Weights::kRows;
  const auto& groups = f.what_if.coalitions;
  const auto best = std::find_if(groups.begin(), groups.end(),
                                 [](const auto& coalition) { return coalition.best; });
  if (best != groups.end() && best->members.size() < f.owners.size() && by_rows)
    f.advice.warnings.push_back(
        {"some_do_harm",
         fmt::format("{} owners alone would do better than all {}: the others add more noise than "
                     "knowledge",
                     best->members.size(), f.owners.size()),
         charter.protocol.weighs_noise() && !charter.secure_aggregation
             ? "Take weights = \"noise_optimal\", under which nobody does harm."
             : "Leave them out, or let them take a larger epsilon."});
}

}  // namespace

void warn_of_thin_columns(Forecast& forecast, const data::Schema& schema, const data::Rows& pilot) {
  const std::vector<size_t> thin = learn::thin_columns(pilot);
  if (thin.empty()) return;
  forecast.advice.warnings.push_back(
      {"thin_columns",
       fmt::format(
           "fewer than {} public rows tell anything about {}: the forecast knows nothing of "
           "owners with such records, and Newton steps leave these columns out",
           learn::kThin, learn::names_of(thin, schema.features())),
       "Take public rows that have them, merge rare levels, or leave the columns out."});
}

void warn_of_differences(Forecast& forecast, double differ) {
  constexpr double kMuch = .5;
  if (differ <= kMuch || forecast.joint.relative_fitness.drift == 0) return;
  forecast.advice.warnings.push_back(
      {"owners_far_apart",
       "owners differ so much that what their local steps cost is a guess, "
       "and may be several times "
       "more",
       "Take single local steps, or try it on data that may be seen."});
}

void warn_of_samples(Forecast& forecast, double error) {
  constexpr double kMuch = .1;
  if (error <= kMuch) return;
  forecast.advice.warnings.push_back(
      {"few_rows",
       fmt::format(
           "the public rows, and the owners' rows themselves, are samples so small that the "
           "expected figure may be off by {:.0f} %",
           100 * std::expm1(2 * std::min(error, 1.0))),
       "Read the interval, not the figure; or take more public rows."});
}

void add_warnings(Forecast& forecast, const charter::Charter& charter, const Prediction& prediction,
                  double disagreement) {
  about_the_predictor(forecast, charter, prediction, disagreement);
  about_the_job(forecast, charter);
  about_shares(forecast, charter);
}

}  // namespace parley::forecast
