#include "parley/report/forecast/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"
#include "parley/report/forecast/answers.h"
#include "parley/report/provenance.h"
#include "parley/report/table.h"

namespace parley::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kShown = 20;  // owners in the table; more are in the JSON

std::string at_least(const std::optional<double>& epsilon) {
  return !epsilon ? "none" : *epsilon == 0 ? "any" : significant(*epsilon);
}

std::string owners_table(const Forecast& f) {
  std::vector<std::vector<std::string>> rows = {
      {"owner", "rows", "ε", "weight", f.metric.name + " alone", f.metric.name + " together",
       "to the best", "pays from ε", "share"}};
  for (size_t i = 0; i < std::min(f.owners.size(), kShown); ++i) {
    const Forecast::Owner& o = f.owners[i];
    rows.push_back({o.name, grouped(o.rows), significant(o.epsilon), significant(o.weight, 2),
                    metric_text(f, o.local_metric), metric_text(f, f.metric.joint),
                    closer(o.local_only, f.relative_fitness.mean) + (o.sure ? "" : " ?"),
                    at_least(o.break_even_epsilon), significant(o.shapley, 2)});
  }
  std::string text = table(rows);
  if (f.owners.size() > kShown)
    text += fmt::format("... and {} more; --json has them all.\n", f.owners.size() - kShown);
  return text;
}

std::string figures(const Forecast& f) {
  const forecast::RelativeFitness& psi = f.relative_fitness;
  const auto percent = [](double value) { return significant(100 * value) + " %"; };
  std::string text = fmt::format(
      "Expected above the best possible: {} (half of all runs {} to {}), of which noise {} and\n"
      "unfinished optimisation {}. The public rows alone: {}.\n",
      percent(psi.mean), percent(psi.p25), percent(psi.p75), percent(psi.privacy),
      percent(psi.optimisation), percent(psi.pilot_only));
  if (psi.drift != 0)
    text += fmt::format("Owners' local steps lead apart, which is {} of it.\n", percent(psi.drift));
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
  const Forecast::Market& market = *f.what_if.market;
  std::vector<std::vector<std::string>> rows = {
      {"owner", "asks for ε 1", "sells at most", "ε bought", "is paid", "ε negotiated"}};
  for (size_t i = 0; i < f.owners.size(); ++i) {
    const Forecast::Sale& sale = market.sales[i];
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

Json json_of(const Forecast::Owner& o, double joint) {
  return {{"owner", o.name},
          {"rows", o.rows},
          {"epsilon", o.epsilon},
          {"weight", o.weight},
          {"local_only", o.local_only},
          {"local_metric", o.local_metric},
          {"joint", joint},
          {"gains", o.gains},
          {"sure", o.sure},
          {"break_even_epsilon", optional_number(o.break_even_epsilon)}};
}

Json answers_json(const Forecast& f) {
  Json json;
  json["worth_it"] = {{"answer", worth_it(f)}, {"sentence", worth_it_sentence(f)}};
  json["for_whom"] = Json::array();
  for (const auto& owner : f.owners)
    json["for_whom"].push_back(json_of(owner, f.relative_fitness.mean));
  json["at_which_epsilon"] = {{"smallest_common", optional_number(f.epsilons.smallest_common)},
                              {"enough", optional_number(f.epsilons.enough)},
                              {"target", optional_number(f.epsilons.target)},
                              {"for_target", optional_number(f.epsilons.for_target)},
                              {"rows_for_target", optional_number(f.epsilons.rows_for_target)}};
  json["how_sure"] = {
      {"interval", {f.relative_fitness.low, f.relative_fitness.high}},
      {"level", 0.9},
      {"metric_interval", {f.metric.low, f.metric.high}},
      {"includes",
       {"noise", "optimisation", f.basis.paid ? "noise of the paid moments" : "pilot sampling"}}};
  return json;
}

Json expected_json(const Forecast& f) {
  const forecast::RelativeFitness& psi = f.relative_fitness;
  return {{"relative_fitness",
           {{"mean", psi.mean}, {"p25", psi.p25}, {"p50", psi.p50}, {"p75", psi.p75}}},
          {"parts",
           {{"optimisation", psi.optimisation},
            {"privacy", psi.privacy},
            {"drift", psi.drift},
            {"statistical_gain", psi.statistical_gain}}},
          {"best_fitness", f.optimum.fitness},
          {"pilot_only", psi.pilot_only},
          {"distance_to_optimum",
           {{"mean", f.optimum.distance}, {"root_mean_square", f.optimum.distance_root}}},
          {"metric",
           {{"name", f.metric.name},
            {"joint", f.metric.joint},
            {"pilot_only", f.metric.pilot_only},
            {"best_possible", f.metric.best}}},
          {"bound",
           {{"theorem2", f.comparison.smooth},
            {"theorem3", f.comparison.general},
            {"fitted", f.comparison.both}}}};
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
  std::string text =
      fmt::format("{}  charter {}  forecast\n\n", f.job.charter, f.job.charter_hash.substr(0, 12));
  for (const auto& [question, answer] : four_answers(f))
    text += fmt::format("{:<13} {}\n", question, answer);
  for (const forecast::Choice& choice : f.advice.chosen)
    text +=
        fmt::format("{} {} = {}: {}\n", &choice == &f.advice.chosen.front() ? "Chosen:" : "       ",
                    choice.key, choice.value, choice.why);
  text += "\n" + owners_table(f) + "\n" + figures(f);
  if (f.advice.steps) text += steps_table(*f.advice.steps);
  if (f.what_if.market) text += market_table(f);
  for (const forecast::Warning& warning : f.advice.warnings)
    text += fmt::format("Warning ({}): {}. {}\n", warning.code, warning.text, warning.what_to_do);
  if (!f.report.empty()) text += "Report: " + f.report + "\n";
  return text;
}

std::string to_json(const Forecast& f) {
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
  for (const auto& c : f.what_if.coalitions)
    json["coalitions"].push_back(
        {{"members", c.members}, {"relative_fitness", c.relative_fitness}, {"best", c.best}});
  for (const auto& o : f.owners)
    json["shapley"].push_back(
        {{"owner", o.name}, {"value", o.shapley}, {"standard_error", o.shapley_error}});
  if (f.what_if.market) {
    const Forecast::Market& deal = *f.what_if.market;
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
  for (const auto& c : f.comparison.points)
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
