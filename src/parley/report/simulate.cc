#include "parley/report/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"
#include "parley/plan/learner/pilot_check.h"
#include "parley/report/evaluation.h"
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

Json json_of(const learn::Figure& figure) {
  return {{"value", figure.value}, {"standard_error", figure.error}};
}

Json json_of(const learn::FigureGain& gain) {
  return {{"value", gain.value}, {"standard_error", gain.error}};
}

Json json_of(const SimulateResult::OwnFigures& own) {
  Json json = {{"owner", own.owner}};
  if (!own.figures) {
    json["why_not"] = own.why_not;
    return json;
  }
  const learn::OwnerFigures& f = *own.figures;
  json["trained_rows"] = f.trained;
  json["held_out_rows"] = f.judged;
  json["alone"] = json_of(f.alone);
  json["own_public"] = json_of(f.own_public);
  json["joint"] = f.joint ? json_of(*f.joint) : Json();
  json["personal"] = json_of(f.personal);
  json["gain_over_alone"] = json_of(f.over_alone);
  json["gain_over_own_public"] = json_of(f.over_own_public);
  json["alone_is_trees"] = f.alone_trees;
  json["trees_weight"] = f.trees_weight;
  json["joint_weight"] = f.joint_weight;
  return json;
}

/// The measure of the first owner that has figures: it is the same for all.
std::string_view measure_of(const SimulateResult& result) {
  for (const SimulateResult::OwnFigures& own : result.figures)
    if (own.figures) return learn::name_of(own.figures->measure);
  return "";
}

std::string with_error(const learn::FigureGain& gain) {
  const double shown = std::round(gain.value * 1e4) / 1e4;
  return fmt::format("{:+.4f} ± {:.4f}", shown == 0 ? 0 : shown, gain.error);
}

/// What each owner has, on its own held-out rows.
std::string own_figures(const SimulateResult& result) {
  if (result.held_out == 0 && !result.job.columns && is_protected(result.owners.front()))
    return "No figures on each owner's own rows were made; --held-out 0.2 makes them.\n\n";
  const std::string_view measure = measure_of(result);
  if (result.figures.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"owner", "held out", "alone", "own + public",
                                                 "joint", "personal", "gain over alone",
                                                 "over own + public"}};
  std::string missing;
  bool trees = false;
  for (const SimulateResult::OwnFigures& own : result.figures) {
    if (!own.figures) {
      missing += own.owner + ": " + own.why_not + ".\n";
      continue;
    }
    const learn::OwnerFigures& f = *own.figures;
    const auto shown = [](double value) { return fmt::format("{:.4f}", value); };
    rows.push_back({own.owner, grouped(f.judged), shown(f.alone.value) + (f.alone_trees ? "*" : ""),
                    shown(f.own_public.value), f.joint ? shown(f.joint->value) : "-",
                    shown(f.personal.value), with_error(f.over_alone),
                    with_error(f.over_own_public)});
    trees = trees || f.alone_trees;
  }
  std::string text = fmt::format("On each owner's own held-out rows{}:\n\n",
                                 measure.empty() ? "" : ", " + std::string(measure));
  if (rows.size() > 1) text += table(rows);
  if (trees) text += "* Boosted trees; else linear models.\n";
  text += missing;
  return text +
         "Alone: the best model of its own rows. Own + public: with the public rows, which cost "
         "nothing.\nPersonal: all of these and the joint model mixed by cross-validation on its "
         "own rows; it stays with\nits owner and costs no privacy. What the job brings is the "
         "last column; ± is one standard error.\n\n";
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
  if (!is_protected(first))
    text += "NO PRIVACY AT ALL: no noise, no ledger, nobody is protected.\n\n";
  text += own_figures(result);
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
  const std::string given = fmt::format("{} {} of each owner, ", first.answers,
                                        first.answers == 1 ? "answer" : "answers");
  text += given + (is_protected(first) ? fmt::format("{} bytes up and {} down in all.\n",
                                                     grouped(result.traffic.bytes_up),
                                                     grouped(result.traffic.bytes_down))
                                       : "in one process: nothing was sent.\n");
  text += about_the_pilot(result);
  if (result.quality.evaluation)
    text += to_text(*result.quality.evaluation) +
            fmt::format("{} paid ε {} for it, part of what it spent.\n", first.name,
                        significant(first.epsilon_evaluation));
  if (!result.model.empty()) text += "Model: " + result.model.string() + "\n";
  for (const std::string& warning : result.warnings) text += "Warning: " + warning + "\n";
  text += "NOT PRIVATE:";
  for (const std::string& why : result.why_not_private)
    text += (why == result.why_not_private.front() ? " " : "; ") + why;
  return text + ".\n";
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
  if (result.held_out > 0) {
    Json& own = outcome["own_rows"];
    own = {{"held_out", result.held_out}, {"metric", measure_of(result)}};
    for (const SimulateResult::OwnFigures& each : result.figures)
      own["owners"].push_back(json_of(each));
  }
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
  outcome["bytes_up"] = result.traffic.bytes_up;
  outcome["bytes_down"] = result.traffic.bytes_down;
  json["timing"] = {{"wall_s", result.timing.wall_s}, {"threads", result.timing.threads}};
  json["model"] = result.model.empty() ? Json() : Json(result.model.string());
  return json.dump(2) + "\n";
}

}  // namespace parley::report
