#include "parley/report/own_figures.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"
#include "parley/report/table.h"

namespace parley::report {
namespace {

using Json = nlohmann::ordered_json;
using learn::FigureGain, learn::FourFigures, learn::Measure;
using sim::SimulateResult;

/// Of the owners that have figures, by the first metric or by log loss beside it.
std::vector<FourFigures> all_of(const SimulateResult& result, bool log_loss) {
  std::vector<FourFigures> found;
  for (const SimulateResult::OwnFigures& own : result.figures) {
    if (!own.figures) continue;
    if (!log_loss) found.push_back(*own.figures);
    if (log_loss && own.figures->log_loss) found.push_back(*own.figures->log_loss);
  }
  return found;
}

/// Of gains `gain(f)` against the figure `than(f)`.
template <class Gain, class Than>
GainSummary summary_of_gains(const std::vector<FourFigures>& all, double worth, const Gain& gain,
                             const Than& than) {
  const auto n = static_cast<double>(all.size());
  GainSummary found;
  double squares = 0;
  for (const FourFigures& f : all) found.mean += gain(f).value / n;
  for (const FourFigures& f : all) {
    squares += std::pow(gain(f).value - found.mean, 2);
    found.material += counts(f.measure, worth, gain(f).value, than(f));
    found.lost += counts(f.measure, worth, -gain(f).value, than(f));
  }
  if (all.size() > 1) found.error = std::sqrt(squares / (n - 1) / n);
  return found;
}

FiguresSummary summary_of(const std::vector<FourFigures>& all, std::optional<double> worth) {
  FiguresSummary found{.measure = all.front().measure, .owners = all.size()};
  found.worth = worth.value_or(learn::default_worth(found.measure));
  const auto n = static_cast<double>(all.size());
  for (const FourFigures& f : all) {
    found.alone += f.alone.value / n, found.own_public += f.own_public.value / n;
    found.joint += (f.joint ? f.joint->value : NAN) / n, found.personal += f.personal.value / n;
  }
  found.against_alone = summary_of_gains(
      all, found.worth, [](const auto& f) { return f.over_alone; },
      [](const auto& f) { return f.alone.value; });
  found.against_own_public = summary_of_gains(
      all, found.worth, [](const auto& f) { return f.over_own_public; },
      [](const auto& f) { return f.own_public.value; });
  return found;
}

std::string shown(double value) {
  return std::isfinite(value) ? fmt::format("{:.4f}", value) : "-";
}

std::string with_error(double gain, double error) {
  const double rounded = std::round(gain * 1e4) / 1e4;
  return fmt::format("{:+.4f} ± {:.4f}", rounded == 0 ? 0 : rounded, error);
}

std::vector<std::string> cells_of(const std::string& name, const std::string& rows,
                                  const FourFigures& f) {
  return {name,
          rows,
          shown(f.alone.value),
          shown(f.own_public.value),
          f.joint ? shown(f.joint->value) : "-",
          shown(f.personal.value),
          with_error(f.over_alone.value, f.over_alone.error),
          with_error(f.over_own_public.value, f.over_own_public.error)};
}

/// `beside`: by log loss, in a table of AUC.
std::vector<std::string> cells_of(const FiguresSummary& all, bool beside) {
  const GainSummary &alone = all.against_alone, &own_public = all.against_own_public;
  return {fmt::format("mean of {}{}", all.owners, beside ? ", log loss" : ""),
          "",
          shown(all.alone),
          shown(all.own_public),
          shown(all.joint),
          shown(all.personal),
          with_error(alone.mean, alone.error),
          with_error(own_public.mean, own_public.error)};
}

constexpr std::string_view kWhatFiguresMean =
    "Alone: the best of its own rows, linear models (and boosted trees, if the loss is squared or "
    "logistic) mixed by\ncross-validation. Own + public: "
    "with the public rows, which cost nothing. Personal: all of these and the joint "
    "model,\nmixed likewise; it stays with its owner and costs no privacy. Gains are those of the "
    "personal model; what the job itself\nbrings is the last column. ± is one standard error.\n";

std::string count_sentence(const GainSummary& gains, size_t owners) {
  return fmt::format("{} of {} gain as much, {} lose as much", gains.material, owners, gains.lost);
}

Json json_of(const learn::Figure& figure) {
  return {{"value", figure.value}, {"standard_error", figure.error}};
}

Json json_of(const FigureGain& gain) {
  return {{"value", gain.value}, {"standard_error", gain.error}};
}

Json json_of(const FourFigures& f) {
  return {{"alone", json_of(f.alone)},
          {"own_public", json_of(f.own_public)},
          {"joint", f.joint ? json_of(*f.joint) : Json()},
          {"personal", json_of(f.personal)},
          {"gain_over_alone", json_of(f.over_alone)},
          {"gain_over_own_public", json_of(f.over_own_public)}};
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
  json.update(json_of(static_cast<const FourFigures&>(f)));
  if (f.log_loss) json["log_loss"] = json_of(*f.log_loss);
  json["alone_trees_weight"] = f.alone_trees_weight;
  json["trees_weight"] = f.trees_weight;
  json["joint_weight"] = f.joint_weight;
  return json;
}

Json json_of(const GainSummary& gains) {
  return {{"mean", gains.mean},
          {"standard_error", gains.error},
          {"material", gains.material},
          {"lost", gains.lost}};
}

Json json_of(const FiguresSummary& all) {
  return {{"metric", learn::name_of(all.measure)},
          {"worth", all.worth},
          {"owners", all.owners},
          {"alone", all.alone},
          {"own_public", all.own_public},
          {"joint", std::isfinite(all.joint) ? Json(all.joint) : Json()},
          {"personal", all.personal},
          {"gain_over_alone", json_of(all.against_alone)},
          {"gain_over_own_public", json_of(all.against_own_public)}};
}

}  // namespace

bool counts(Measure measure, double worth, double gain, double than) {
  return gain >= (smaller_is_better(measure) ? worth * than : worth);
}

std::vector<FiguresSummary> summaries_of(const SimulateResult& result) {
  std::vector<FiguresSummary> found;
  for (const bool log_loss : {false, true}) {
    const auto all = all_of(result, log_loss);
    // An owner's own threshold is in the units of its own metric.
    const auto worth = log_loss ? std::nullopt : result.worth;
    if (!all.empty()) found.push_back(summary_of(all, worth));
  }
  return found;
}

std::string_view title_of(Measure measure) {
  constexpr std::string_view kTitles[] = {"RMSE", "log loss", "AUC"};
  return kTitles[static_cast<int>(measure)];
}

std::string worth_text(const FiguresSummary& summary) {
  const std::string title(title_of(summary.measure));
  return smaller_is_better(summary.measure) ? significant(100 * summary.worth) + " % of " + title
                                            : significant(summary.worth) + " of " + title;
}

std::string gains_sentence(const FiguresSummary& all) {
  return fmt::format(
      "A gain counts from {}. Against alone {};\nagainst own + public, which is what the job "
      "itself brings, {}.",
      worth_text(all), count_sentence(all.against_alone, all.owners),
      count_sentence(all.against_own_public, all.owners));
}

bool nothing_gained(const FiguresSummary& all) {
  return !counts(all.measure, all.worth, all.against_alone.mean, all.alone);
}

bool nothing_of_the_job(const FiguresSummary& all) {
  return !counts(all.measure, all.worth, all.against_own_public.mean, all.own_public);
}

std::string nothing_sentence(const FiguresSummary& all) {
  if (nothing_gained(all))
    return fmt::format(
        "Nothing material is to be gained here: {:+.4f} of {} on average against alone, where {} "
        "counts.",
        all.against_alone.mean, title_of(all.measure), worth_text(all));
  if (nothing_of_the_job(all))
    return fmt::format(
        "What is gained here comes from the public rows. The job itself brings nothing material: "
        "{:+.4f} of {} on average against own + public, where {} counts.",
        all.against_own_public.mean, title_of(all.measure), worth_text(all));
  return "";
}

std::vector<std::vector<std::string>> figures_cells(const SimulateResult& result) {
  std::vector<std::vector<std::string>> rows = {
      {"owner", result.held_out > 0 ? "held out" : "new rows", "alone", "own + public", "joint",
       "personal", "gain against alone", "gain against own + public"}};
  for (const SimulateResult::OwnFigures& own : result.figures)
    if (own.figures)
      rows.push_back(cells_of(own.owner, grouped(own.figures->judged), *own.figures));
  if (rows.size() > 2)
    for (const FiguresSummary& all : summaries_of(result))
      rows.push_back(cells_of(all, rows.back()[0].starts_with("mean of")));
  return rows;
}

std::string figures_notes(const SimulateResult& result) {
  std::string missing;
  for (const SimulateResult::OwnFigures& own : result.figures)
    if (!own.figures) missing += own.owner + ": " + own.why_not + ".\n";
  return missing + std::string(kWhatFiguresMean);
}

std::string figures_text(const SimulateResult& result) {
  if (result.figures.empty()) return "";
  const auto summaries = summaries_of(result);
  const auto cells = figures_cells(result);
  std::string text = fmt::format(
      "On each owner's own {}{}:\n\n", result.held_out > 0 ? "held-out rows" : "new rows",
      summaries.empty() ? "" : ", " + std::string(title_of(summaries.front().measure)));
  if (cells.size() > 1) text += table(cells);
  text += figures_notes(result);
  if (!summaries.empty()) text += gains_sentence(summaries.front()) + "\n";
  return text + "\n";
}

std::string figures_json(const SimulateResult& result) {
  Json own = {{"held_out", result.held_out}};
  const auto summaries = summaries_of(result);
  own["metric"] = summaries.empty() ? "" : std::string(learn::name_of(summaries.front().measure));
  for (const FiguresSummary& all : summaries) own["mean"].push_back(json_of(all));
  for (const SimulateResult::OwnFigures& each : result.figures)
    own["owners"].push_back(json_of(each));
  return own.dump();
}

}  // namespace parley::report
