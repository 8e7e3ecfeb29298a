#include "parley/report/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"
#include "parley/plan/learner/pilot_check.h"
#include "parley/report/distance.h"
#include "parley/report/evaluation.h"
#include "parley/report/own_figures.h"
#include "parley/report/provenance.h"
#include "parley/report/table.h"

namespace parley::report {
namespace {

using Json = nlohmann::ordered_json;
using sim::SimulateResult, sim::Spread;

Json json_of(const Spread& spread) {
  return {{"mean", spread.mean},
          {"standard_error", spread.standard_error},
          {"p25", spread.p25},
          {"p50", spread.p50},
          {"p75", spread.p75}};
}

bool is_protected(const SimulateResult::Owner& owner) { return std::isfinite(owner.epsilon); }

Json json_of(const SimulateResult::Owner& owner) {
  const auto promised = [&](double value) { return is_protected(owner) ? Json(value) : Json(); };
  return {{"name", owner.name},
          {"rows", owner.rows},
          {"epsilon", promised(owner.epsilon)},
          {"delta", promised(owner.delta)},
          {"epsilon_spent", promised(owner.epsilon_spent)},
          {"epsilon_evaluation", owner.epsilon_evaluation},
          {"answers", owner.answers},
          {"weight", owner.weight},
          {"noise_scale", owner.noise_scale},
          {"local_only", owner.local_only},
          {"pilot_only", owner.pilot_only ? Json(*owner.pilot_only) : Json()},
          {"joint", owner.joint},
          {"gains", owner.gains}};
}

Json json_of(const std::vector<learn::Metric>& metrics) {
  Json json = Json::object();
  for (const learn::Metric& metric : metrics) json[std::string(metric.name)] = metric.value;
  return json;
}

/// The metrics as a table: the joint model, and what is possible at best.
std::string judged(const SimulateResult& result) {
  std::vector<std::vector<std::string>> rows = {
      {"predicting " + result.job.target.column}, {"joint model"}, {"best possible"}};
  for (size_t i = 0; i < result.quality.joint_metrics.size(); ++i) {
    rows[0].emplace_back(result.quality.joint_metrics[i].name);
    rows[1].push_back(fmt::format("{:.4f}", result.quality.joint_metrics[i].value));
    rows[2].push_back(fmt::format("{:.4f}", result.quality.optimum_metrics[i].value));
  }
  return table(rows);
}

std::string percent(double part) { return significant(100 * part) + " %"; }

std::vector<std::vector<std::string>> owner_rows(const SimulateResult& result) {
  std::vector<std::vector<std::string>> rows = {
      {"owner", "rows", "ε", "ε spent", "loss alone", "loss together", "gain"}};
  for (const SimulateResult::Owner& owner : result.owners) {
    const double alone = owner.local_fitness;
    const double together = result.quality.fitness.mean;
    const auto budget = [&](double epsilon) {
      return is_protected(owner) ? significant(epsilon) : std::string("∞");
    };
    rows.push_back({owner.name, grouped(owner.rows), budget(owner.epsilon),
                    budget(owner.epsilon_spent), fmt::format("{:.6f}", alone),
                    fmt::format("{:.6f}", together), percent((alone - together) / alone)});
  }
  return rows;
}

/// Rule "distance": what was bought, and at which price.
std::string bought_text(const SimulateResult& result) {
  const SimulateResult::Bought& bought = *result.bought;
  std::string text = to_text(result.quality.distances.front());
  text += fmt::format("How unlike owners are: tau {} (90 % {} to {}){}.\n", significant(bought.tau),
                      significant(bought.low, 2), significant(bought.high, 2),
                      result.job.runs == 1
                          ? ""
                          : fmt::format("; over runs {} ± {}", significant(bought.mean),
                                        significant(bought.deviation, 2)));
  text += fmt::format(
      "Without noise the numbers would say {}; for that the forecast's interval was {} to {}.\n",
      significant(bought.noiseless), significant(bought.noiseless_low, 2),
      significant(bought.noiseless_high, 2));
  if (bought.exact)
    text += fmt::format(
        "The mean of owners' own squared distances, in which the furthest weigh most, is {}.\n",
        significant(*bought.exact));
  return text + fmt::format("{} spent ε {} of {} on it.\n", result.owners.front().name,
                            significant(result.owners.front().epsilon_spent),
                            significant(result.owners.front().epsilon));
}

std::string ending(const SimulateResult& result) {
  std::string text;
  if (!result.model.empty()) text += "Model: " + result.model.string() + "\n";
  for (const std::string& warning : result.warnings) text += "Warning: " + warning + "\n";
  text += "NOT PRIVATE:";
  for (const std::string& why : result.why_not_private)
    text += (why == result.why_not_private.front() ? " " : "; ") + why;
  return text + ".\n";
}

Json json_of(const SimulateResult::Bought& bought) {
  return {{"tau", bought.tau},
          {"low", bought.low},
          {"high", bought.high},
          {"mean", bought.mean},
          {"deviation", bought.deviation},
          {"noiseless", bought.noiseless},
          {"forecast_low", bought.noiseless_low},
          {"forecast_high", bought.noiseless_high},
          {"exact", bought.exact ? Json(*bought.exact) : Json()}};
}

/// The test of the first run, and how many runs had an alarm.
std::string about_the_pilot(const SimulateResult& result) {
  const auto& pilot = result.quality.pilot;
  if (!pilot) return "";
  std::string text = plan::to_text(*pilot) + "\n";
  if (result.quality.stopped)
    text +=
        "The job ended there, with the pilot's model; nothing more was paid. To go on "
        "nevertheless: "
        "--continue-after-alarm.\n";
  if (result.job.runs > 1)
    text += fmt::format("Alarms in {} of {} runs.\n", result.quality.alarms, result.job.runs);
  return text;
}

}  // namespace

std::string to_text(const SimulateResult& result) {
  const auto most = [](const auto& a, const auto& b) { return a.answers < b.answers; };
  const SimulateResult::Owner& first =
      *std::max_element(result.owners.begin(), result.owners.end(), most);
  std::string text = fmt::format(
      "{}  charter {}  {}, seed {}\n\n", result.job.charter, result.job.charter_hash.substr(0, 12),
      result.job.runs == 1 ? "1 run" : grouped(result.job.runs) + " runs", result.job.seed);
  if (result.bought) return text + bought_text(result) + ending(result);
  if (!is_protected(first))
    text += "NO PRIVACY AT ALL: no noise, no ledger, nobody is protected.\n\n";
  if (result.figures.empty() && !result.job.columns && is_protected(first))
    text += "No figures on each owner's own rows were made; --held-out 0.2 makes them.\n\n";
  text += figures_text(result);
  if (!result.figures.empty()) text += "The papers' measure, over all owners' rows:\n\n";
  text += table(owner_rows(result)) + "\n" + judged(result) + "\n";
  text += fmt::format(
      "Loss is the mean {} loss over all {}, {} included. Alone: the best model of the\n"
      "owner's own {}, without noise. Best possible with all {} and no privacy: {:.6f}.\n"
      "The second table is measured on all {}{}.\n",
      result.job.loss, result.job.columns ? "records" : "owners' rows", result.job.penalty,
      result.job.columns ? "columns and the labels" : "rows",
      result.job.columns ? "columns" : "rows", result.quality.optimum.fitness,
      result.job.columns ? "records" : "rows",
      result.job.runs == 1 ? "" : ", with the first run's model");
  text += fmt::format(
      "The joint model is {} above that best{}.\n", percent(result.quality.relative_fitness.mean),
      result.job.runs == 1 ? ""
                           : fmt::format(" on average (median {}, standard error {})",
                                         percent(result.quality.relative_fitness.p50),
                                         percent(result.quality.relative_fitness.standard_error)));
  if (first.pilot_only)
    text +=
        fmt::format("The public rows alone would reach {} above it.\n", percent(*first.pilot_only));
  if (result.quality.output_perturbation)
    text += fmt::format("Noise added once to each owner's own model would reach {} above it.\n",
                        percent(result.quality.output_perturbation->mean));
  for (const SimulateResult::OwnModel& own : result.quality.own_models)
    text += fmt::format(
        "{}'s own model is {} above it{}.\n", own.owner, percent(own.relative_fitness.mean),
        own.published ? ", published with noise" : "; it is made of exact rows and stays there");
  const bool alike = std::ranges::all_of(
      result.owners, [&](const auto& owner) { return owner.answers == first.answers; });
  const std::string given =
      fmt::format("{}{} {} of {} owner, ", alike ? "" : "at most ", first.answers,
                  first.answers == 1 ? "answer" : "answers", alike ? "each" : "an");
  text += given + (is_protected(first) ? fmt::format("{} bytes up and {} down in all.\n",
                                                     grouped(result.traffic.bytes_up),
                                                     grouped(result.traffic.bytes_down))
                                       : "in one process: nothing was sent.\n");
  text += about_the_pilot(result);
  if (result.quality.evaluation)
    text += to_text(*result.quality.evaluation) +
            fmt::format("{} paid ε {} for it, part of what it spent.\n", first.name,
                        significant(first.epsilon_evaluation));
  return text + ending(result);
}

std::string to_json(const SimulateResult& result) {
  Json json = {{"format", "parley.simulate/1"},
               {"parley", provenance()},
               {"charter", {{"name", result.job.charter}, {"sha256", result.job.charter_hash}}},
               {"private", false},
               {"why_not_private", result.why_not_private},
               {"seed", result.job.seed},
               {"runs", result.job.runs},
               {"calibration", result.job.calibration},
               {"warnings", result.warnings}};
  for (const SimulateResult::Owner& owner : result.owners)
    json["data"].push_back({{"owner", owner.name}, {"rows", owner.rows}, {"source", owner.source}});
  json["optimum"] = {{"fitness", result.quality.optimum.fitness},
                     {"solver", result.quality.optimum.solver},
                     {"relative_gap", result.quality.optimum.relative_gap}};
  Json& outcome = json["result"];
  outcome["relative_fitness"] = json_of(result.quality.relative_fitness);
  outcome["fitness"] = json_of(result.quality.fitness);
  if (result.quality.output_perturbation)
    outcome["output_perturbation"] = json_of(*result.quality.output_perturbation);
  for (size_t k = 0; k < result.quality.by_round.size(); ++k) {
    outcome["by_round"].push_back({{"round", k + 1}});
    outcome["by_round"].back().update(json_of(result.quality.by_round[k]));
  }
  for (const SimulateResult::Owner& owner : result.owners)
    outcome["owners"].push_back(json_of(owner));
  if (!result.figures.empty()) outcome["own_rows"] = Json::parse(figures_json(result));
  for (const SimulateResult::OwnModel& own : result.quality.own_models) {
    outcome["own_models"].push_back({{"owner", own.owner}, {"published", own.published}});
    outcome["own_models"].back()["relative_fitness"] = json_of(own.relative_fitness);
  }
  outcome["metrics"] = {{"joint", json_of(result.quality.joint_metrics)},
                        {"optimum", json_of(result.quality.optimum_metrics)}};
  if (const auto& pilot = result.quality.pilot) {
    outcome["pilot_check"] = Json::parse(to_json(*pilot));
    outcome["pilot_alarms"] = result.quality.alarms;
    outcome["stopped_by_alarm"] = result.quality.stopped;
  }
  if (result.quality.evaluation)
    outcome["evaluation"] = Json::parse(to_json(*result.quality.evaluation));
  if (result.bought) {
    outcome["distance"] = Json::parse(to_json(result.quality.distances.front()));
    outcome["bought"] = json_of(*result.bought);
  }
  outcome["bytes_up"] = result.traffic.bytes_up;
  outcome["bytes_down"] = result.traffic.bytes_down;
  json["timing"] = {{"wall_s", result.timing.wall_s}, {"threads", result.timing.threads}};
  json["model"] = result.model.empty() ? Json() : Json(result.model.string());
  return json.dump(2) + "\n";
}

}  // namespace parley::report
