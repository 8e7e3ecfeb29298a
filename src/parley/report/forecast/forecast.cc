#include "parley/report/forecast/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"
#include "parley/forecast/owners/verdict.h"
#include "parley/report/forecast/answers.h"
#include "parley/report/forecast/distance.h"
#include "parley/report/forecast/owners.h"
#include "parley/report/forecast/ranking.h"
#include "parley/report/provenance.h"
#include "parley/report/table.h"

namespace parley::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kShown = 20;  // owners in the table; more are in the JSON

std::string rest_of_owners(const Forecast& f) {
  if (f.owners.size() <= kShown) return "";
  return fmt::format("... and {} more; --json has them all.\n", f.owners.size() - kShown);
}

std::string lines(const Answers& answers) {
  std::string text;
  for (const auto& [question, answer] : answers)
    text += fmt::format("{:<13} {}\n", question, answer);
  return text;
}

std::string figures(const Forecast& f) {
  const forecast::RelativeFitness& psi = f.joint.relative_fitness;
  const auto percent = [](double value) { return significant(100 * value) + " %"; };
  std::string text = fmt::format(
      "The papers' measure is how far the loss over all owners' rows ends above the best "
      "possible:\n"
      "{} expected (half of all runs {} to {}), of which noise {} and unfinished optimisation\n"
      "{}. The public rows alone: {}.\n",
      percent(psi.mean), percent(psi.p25), percent(psi.p75), percent(psi.privacy),
      percent(psi.optimisation), percent(psi.pilot_only));
  if (psi.drift != 0)
    text += fmt::format("Local models drift apart, which is {} of it.\n", percent(psi.drift));
  text += fmt::format(
      "By {} ({}), from {} public rows{}; no private row was read.\n"
      "{} {}, {} bytes for each owner, about {} s a round without the network's delay.\n",
      f.basis.predictor, f.basis.why, grouped(f.basis.pilot_rows),
      f.basis.paid ? " drawn from paid moments" : "", f.cost.rounds,
      f.cost.rounds == 1 ? "round" : "rounds", grouped(f.cost.bytes_per_owner),
      significant(f.cost.seconds_per_round, 2));
  return text;
}

std::string market_table(const Forecast& f) {
  const forecast::WhatIf::Market& market = *f.what_if.market;
  std::vector<std::vector<std::string>> rows = {
      {"owner", "asks for ε 1", "sells at most", "ε bought", "is paid", "ε negotiated"}};
  for (size_t i = 0; i < f.owners.size(); ++i) {
    const forecast::WhatIf::Sale& sale = market.sales[i];
    rows.push_back({f.owners[i].name, significant(sale.price), significant(f.owners[i].epsilon),
                    significant(sale.epsilon), significant(sale.payment),
                    significant(sale.negotiated)});
  }
  return fmt::format(
      "\nMarket: a unit of relative fitness is worth {}; bought, the model ends {} % above the "
      "best "
      "of endless rows.\n{}",
      significant(market.value), significant(100 * market.psi), table(rows));
}

std::string steps_table(const forecast::StepsAdvice& steps) {
  std::vector<std::vector<std::string>> rows = {
      {"local steps", "aggregations", "above the best", "noise", "leading apart", "bytes"}};
  const auto percent = [](double psi) { return significant(100 * psi, 2) + " %"; };
  for (const auto& p : steps.points)
    rows.push_back({std::to_string(p.local_steps) + (p.local_steps == steps.advised ? " *" : ""),
                    std::to_string(p.rounds), percent(p.psi), percent(p.noise), percent(p.drift),
                    grouped(p.bytes_per_owner)});
  return fmt::format("\nLocal steps between aggregations: {} ({:.0f} % of them saved): {}.\n{}",
                     steps.advised, 100 * steps.saved, steps.why, table(rows));
}

Json optional_number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json json_of(const MetricRange& range) {
  return {{"mean", range.mean}, {"low", range.low}, {"high", range.high}};
}

Json json_of(const GainVerdict& verdict, const std::string& metric) {
  return {{"against", verdict.against == GainAgainst::kAlone ? "alone" : "own_public"},
          {"answer", name_of(verdict.answer)},
          {"gain", json_of(verdict.gain)},
          {"threshold", verdict.threshold},
          {"if_alike", verdict.alike},
          {"rare", verdict.rare},
          {"sentence", forecast::sentence(verdict, metric)}};
}

Json json_of(const Forecast::Owner& o, const Forecast& f) {
  Json figures = {{"alone", json_of(o.alone)}};
  if (o.own_public) figures["own_public"] = json_of(*o.own_public);
  figures["joint"] = json_of(o.joint);
  if (o.personal) figures["personal"] = json_of(*o.personal);
  Json verdicts = {json_of(o.against_alone, f.joint.metric.name)};
  if (o.against_own_public) verdicts.push_back(json_of(*o.against_own_public, f.joint.metric.name));
  return {{"owner", o.name},
          {"rows", o.rows},
          {"epsilon", o.epsilon},
          {"weight", o.weight},
          {"figures", std::move(figures)},
          {"verdicts", std::move(verdicts)},
          {"local_only", o.local_only},
          {"joint", f.joint.relative_fitness.mean},
          {"break_even_epsilon", optional_number(o.break_even_epsilon)}};
}

Json answers_json(const Forecast& f) {
  Json json;
  json["worth_it"] = {{"answer", worth_it(f, GainAgainst::kAlone)},
                      {"sentence", worth_it_sentence(f)}};
  if (!f.job.columns) json["worth_it"]["against_own_public"] = worth_it(f, GainAgainst::kOwnPublic);
  json["for_whom"] = Json::array();
  for (const auto& owner : f.owners) json["for_whom"].push_back(json_of(owner, f));
  if (!f.job.columns)
    json["how_unlike"] = {
        {"from", f.differ.from}, {"tau", json_of(f.differ.tau)}, {"sentence", how_unlike(f)}};
  json["at_which_epsilon"] = {{"smallest_common", optional_number(f.epsilons.smallest_common)},
                              {"enough", optional_number(f.epsilons.enough)},
                              {"target", optional_number(f.epsilons.target)},
                              {"for_target", optional_number(f.epsilons.for_target)},
                              {"rows_for_target", optional_number(f.epsilons.rows_for_target)}};
  json["how_sure"] = {
      {"interval", {f.joint.relative_fitness.low, f.joint.relative_fitness.high}},
      {"level", 0.9},
      {"metric_interval", {f.joint.metric.low, f.joint.metric.high}},
      {"includes",
       {"noise", "optimisation", f.basis.paid ? "noise of the paid moments" : "pilot sampling"}}};
  return json;
}

Json expected_json(const Forecast& f) {
  const forecast::RelativeFitness& psi = f.joint.relative_fitness;
  return {
      {"relative_fitness",
       {{"mean", psi.mean}, {"p25", psi.p25}, {"p50", psi.p50}, {"p75", psi.p75}}},
      {"parts",
       {{"optimisation", psi.optimisation},
        {"privacy", psi.privacy},
        {"drift", psi.drift},
        {"statistical_gain", psi.statistical_gain}}},
      {"best_fitness", f.joint.optimum.fitness},
      {"pilot_only", psi.pilot_only},
      {"distance_to_optimum",
       {{"mean", f.joint.optimum.distance}, {"root_mean_square", f.joint.optimum.distance_root}}},
      {"metric",
       {{"name", f.joint.metric.name},
        {"joint", f.joint.metric.joint},
        {"pilot_only", f.joint.metric.pilot_only},
        {"best_possible", f.joint.metric.best}}},
      {"bound",
       {{"theorem2", f.joint.comparison.smooth},
        {"theorem3", f.joint.comparison.general},
        {"fitted", f.joint.comparison.both}}}};
}

Json steps_json(const forecast::StepsAdvice& steps) {
  Json json = {{"advised", steps.advised},
               {"rounds", steps.rounds},
               {"communication_saved", steps.saved},
               {"why", steps.why},
               {"safe_floor", steps.floor},
               {"price", steps.price},
               {"priced_by_bound", steps.priced_bound ? Json(*steps.priced_bound) : Json()},
               {"saturation", optional_number(steps.saturation)},
               {"dissimilarity", {{"gradients", steps.gradients}, {"optima", steps.optima}}}};
  for (const auto& p : steps.points)
    json["points"].push_back({{"local_steps", p.local_steps},
                              {"rounds", p.rounds},
                              {"relative_fitness", p.psi},
                              {"privacy", p.noise},
                              {"drift", p.drift},
                              {"bound", p.bound},
                              {"bytes_per_owner", p.bytes_per_owner}});
  return json;
}

}  // namespace

std::string to_text(const Forecast& f) {
  if (f.distance) return distance_text(f);
  std::string text =
      fmt::format("{}  charter {}  forecast\n\n", f.job.charter, f.job.charter_hash.substr(0, 12));
  text += lines(first_answers(f)) + "\n" + table(verdict_cells(f, kShown)) + rest_of_owners(f);
  text += "\n" + lines(more_answers(f));
  for (const forecast::Choice& choice : f.advice.chosen)
    text +=
        fmt::format("{} {} = {}: {}\n", &choice == &f.advice.chosen.front() ? "Chosen:" : "       ",
                    choice.key, choice.value, choice.why);
  text += ranking_text(f);
  text += "\n" + table(figure_cells(f, kShown)) + "\n" + table(paper_cells(f, kShown));
  text += "\n" + figures(f);
  if (f.advice.steps) text += steps_table(*f.advice.steps);
  if (f.what_if.market) text += market_table(f);
  for (const forecast::Warning& warning : f.advice.warnings)
    text += fmt::format("Warning ({}): {}. {}\n", warning.code, warning.text, warning.what_to_do);
  if (!f.report.empty()) text += "Report: " + f.report + "\n";
  return text;
}

std::string to_json(const Forecast& f) {
  if (f.distance) return distance_json(f);
  Json json = {
      {"format", "parley.forecast/1"},
      {"parley", provenance()},
      {"charter",
       {{"name", f.job.charter}, {"sha256", f.job.charter_hash}, {"complete", f.job.complete}}},
      {"inputs", {{"pilot_rows", f.basis.pilot_rows}, {"private_rows_read", 0}}},
      {"predictor",
       {{"name", f.basis.predictor}, {"why", f.basis.why}, {"others", f.basis.others}}}};
  json["answers"] = answers_json(f);
  json["expected"] = expected_json(f);
  json["chosen"] = Json::array();
  for (const forecast::Choice& c : f.advice.chosen)
    json["chosen"].push_back({{"key", c.key}, {"value", c.value}, {"why", c.why}});
  if (!f.advice.ranking.empty()) json["ranking"] = Json::parse(ranking_json(f));
  for (const auto& c : f.what_if.coalitions)
    json["coalitions"].push_back(
        {{"members", c.members}, {"relative_fitness", c.relative_fitness}, {"best", c.best}});
  for (const auto& o : f.owners)
    json["shapley"].push_back(
        {{"owner", o.name}, {"value", o.shapley}, {"standard_error", o.shapley_error}});
  if (f.what_if.market) {
    const forecast::WhatIf::Market& deal = *f.what_if.market;
    Json& market = json["market"];
    market = {{"value", deal.value}, {"psi", deal.psi}, {"surplus", deal.surplus}};
    for (size_t i = 0; i < f.owners.size(); ++i)
      market["sales"].push_back({{"owner", f.owners[i].name},
                                 {"price", deal.sales[i].price},
                                 {"epsilon", deal.sales[i].epsilon},
                                 {"payment", deal.sales[i].payment},
                                 {"negotiated", deal.sales[i].negotiated}});
  }
  for (const auto& s : f.what_if.scenarios)
    json["scenarios"].push_back({{"name", s.name},
                                 {"rows", {1e5, s.others_rows, s.others_rows}},
                                 {"epsilon", {s.epsilon, s.others_epsilon, s.others_epsilon}},
                                 {"by_rows", s.by_rows},
                                 {"first_alone", s.first_alone},
                                 {"optimal", s.optimal}});
  for (const auto& c : f.joint.comparison.points)
    json["compared"].push_back({{"epsilon", c.epsilon},
                                {"forecast", c.forecast},
                                {"theorem2", c.smooth},
                                {"theorem3", c.general},
                                {"fitted", c.both},
                                {"pilot_monte_carlo", optional_number(c.runs)}});
  if (f.advice.steps) json["local_steps"] = steps_json(*f.advice.steps);
  json["cost"] = {{"rounds", f.cost.rounds},
                  {"bytes_per_owner", f.cost.bytes_per_owner},
                  {"seconds_per_round", f.cost.seconds_per_round}};
  json["warnings"] = Json::array();
  for (const forecast::Warning& w : f.advice.warnings)
    json["warnings"].push_back({{"code", w.code}, {"text", w.text}, {"what_to_do", w.what_to_do}});
  json["report"] = f.report.empty() ? Json() : Json(f.report);
  return json.dump(2) + "\n";
}

}  // namespace parley::report
