// The forecast as one page for people.
#include <fmt/format.h>

#include <algorithm>

#include "parley/base/math/number.h"
#include "parley/base/version.h"
#include "parley/report/forecast/answers.h"
#include "parley/report/forecast/charts.h"
#include "parley/report/forecast/forecast.h"
#include "parley/report/forecast/owners.h"
#include "parley/report/page/html.h"

namespace parley::report {
namespace {

constexpr const char* kStyle =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;"
    "color:#1b1b1b}:root{color-scheme:light dark}svg "
    "text{fill:currentColor}h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}"
    "dt{font-weight:600;margin-top:.8rem}dd{margin:0}table{border-collapse:collapse;width:100%;"
    "font-size:.9rem;font-variant-numeric:tabular-nums}th,td{padding:.3rem .5rem;text-align:right;"
    "border-bottom:1px solid "
    "#ddd}td{white-space:nowrap}th:first-child,td:first-child{text-align:left}"
    "td.words{text-align:left;white-space:normal}.names "
    "td{white-space:normal}.quiet{color:#666;font-size:.9rem}.warn{border-left:4px solid "
    "#c60;padding:.2rem .8rem;"
    "margin:.5rem 0;background:#fff8f0}.wide{overflow-x:auto}svg{max-width:100%;height:auto}"
    "@media(prefers-color-scheme:dark){body{color:#e8eaed;background:#15181d}"
    "th,td{border-color:#333941}.quiet{color:#a3adba}.warn{background:#2a2118}"
    "polyline{filter:brightness(1.9)}rect[opacity]{opacity:.8}}"
    "@media print{body{margin:0;max-width:none;font-size:13px}h2{break-after:avoid}"
    "section,tr,svg{break-inside:avoid}}";

std::string questions(const Answers& answers) {
  std::string text = "<dl>\n";
  for (const auto& [question, answer] : answers)
    text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(question), escaped(answer));
  return text + "</dl>\n";
}

constexpr size_t kShownOnPage = 100;  // owners

// Wider than a phone: it can be moved to and fro, also by keyboard.
constexpr std::string_view kTable =
    "<div class=wide tabindex=0 role=group aria-label=table><table>\n";
constexpr std::string_view kTableEnd = "</table></div>\n";

std::string opened(std::string_view before) { return std::string(before) + std::string(kTable); }

std::string html_table(const Forecast& f, const Cells& cells) {
  std::string text(kTable);
  for (const auto& row : cells) text += html_row(row, &row == &cells.front() ? "th" : "td");
  text += kTableEnd;
  if (f.owners.size() > kShownOnPage)
    text += fmt::format("<p class=quiet>and {} more</p>\n", f.owners.size() - kShownOnPage);
  return text;
}

std::string owners(const Forecast& f) {
  return "<h2>Owner by owner</h2>\n<p>" +
         escaped(metric_name(f) + " on the owner's own people, with 90 % intervals.") + "</p>\n" +
         html_table(f, figure_cells(f, kShownOnPage)) +
         "<p>The papers' measure: how far the loss over all owners' rows ends above the best "
         "possible.</p>\n" +
         html_table(f, paper_cells(f, kShownOnPage));
}

std::string members(const std::vector<std::string>& names, size_t all) {
  if (names.size() == all) return "everyone";
  if (all > 3 && names.size() + 1 == all) return std::to_string(names.size()) + " of them";
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Who is missing, where all but one are in.
std::string left_out(const Forecast& f, const std::vector<std::string>& names) {
  std::string text;
  for (const auto& owner : f.owners)
    if (std::find(names.begin(), names.end(), owner.name) == names.end())
      text += (text.empty() ? "" : ", ") + owner.name;
  return text;
}

std::string coalitions(const Forecast& f) {
  constexpr size_t kShown = 20;
  if (f.owners.size() < 2) return "";
  std::string text = "<section>\n<h2>Who with whom</h2>\n<table class=names>\n" +
                     html_row({"group", "without", "above endless rows", "which"}, "th");
  for (size_t k = 0; k < std::min(f.what_if.coalitions.size(), kShown); ++k) {
    const auto& c = f.what_if.coalitions[k];
    text += html_row(
        {members(c.members, f.owners.size()), f.owners.size() <= 40 ? left_out(f, c.members) : "",
         significant(100 * c.relative_fitness) + " %", c.best ? "best" : ""},
        "td");
  }
  return text +
         "</table>\n<p class=quiet>How far each group's model ends above what endless rows would "
         "give, so that groups of different size compare.</p>\n</section>\n";
}

std::string scenarios(const std::vector<forecast::WhatIf::Scenario>& all) {
  if (all.empty()) return "";
  std::string text = opened("<section>\n<h2>More data is not always good: four scenarios</h2>\n") +
                     html_row({"two more owners", "rows, ε of the first", "rows, ε of the others",
                               "by rows", "the first alone", "optimal weights"},
                              "th");
  for (const auto& s : all) {
    const auto percent = [](double psi) { return significant(100 * psi) + " %"; };
    text += html_row(
        {s.name, "100,000, " + significant(s.epsilon),
         grouped(static_cast<uint64_t>(s.others_rows)) + ", " + significant(s.others_epsilon),
         percent(s.by_rows), percent(s.first_alone), percent(s.optimal)},
        "td");
  }
  return text +
         "</table></div>\n<p class=quiet>The scenarios of Wu et al., in this job: with weights by "
         "rows, "
         "small or cautious owners can do harm; with optimal weights nobody does. Above endless "
         "rows.</p>\n</section>\n";
}

std::string local_steps(const std::optional<forecast::StepsAdvice>& steps) {
  if (!steps) return "";
  const auto percent = [](double psi) { return significant(100 * psi, 2) + " %"; };
  std::string text =
      "<section>\n<h2>Local steps between aggregations</h2>\n<p>" +
      escaped(fmt::format("{} local steps, {} aggregations: {:.0f} % of the communication of "
                          "single steps saved. ",
                          steps->advised, steps->rounds, 100 * steps->saved)) +
      escaped("Why: " + steps->why + ".") + opened("</p>\n") +
      html_row({"local steps", "aggregations", "above the best", "noise", "leading apart",
                "bytes of an owner", "which"},
               "th");
  for (const auto& p : steps->points)
    text += html_row({std::to_string(p.local_steps), std::to_string(p.rounds), percent(p.psi),
                      percent(p.noise), percent(p.drift), grouped(p.bytes_per_owner),
                      p.local_steps == steps->advised ? "advised" : ""},
                     "td");
  return text +
         "</table></div>\n<p class=quiet>The same number of local steps in all. Leading apart: "
         "what is "
         "lost because owners' rows differ, and so the ends of their steps.</p>\n</section>\n";
}

std::string chosen(const std::vector<forecast::Choice>& choices) {
  if (choices.empty()) return "";
  std::string text = opened("<h2>Chosen, and why</h2>\n") + html_row({"key", "value", "why"}, "th");
  for (const forecast::Choice& choice : choices)
    text += fmt::format("<tr><td>{}</td><td>{}</td><td class=words>{}</td></tr>\n",
                        escaped(choice.key), escaped(choice.value), escaped(choice.why));
  return text + std::string(kTableEnd);
}

std::string warnings(const std::vector<forecast::Warning>& all) {
  std::string text;
  for (const forecast::Warning& warning : all)
    text += fmt::format("<p class=warn>{}. {}</p>\n", escaped(warning.text),
                        escaped(warning.what_to_do));
  return text.empty() ? "" : "<h2>Mind</h2>\n" + text;
}

std::string html_figures(const Forecast& f) {
  const auto& realised = f.joint.comparison.realised;
  const forecast::RelativeFitness& psi = f.joint.relative_fitness;
  const auto percent = [](double value) { return significant(100 * value) + " %"; };
  return fmt::format(
      "<h2>The figures</h2>\n<table class=names>\n{}{}{}{}{}{}{}</table>\n"
      "<p class=quiet>Predictor: {} ({}). Read: the charter and {} public rows; no private row. "
      "Charter {}. parley {}.</p>\n",
      html_row({"the papers' measure, over all rows", "above the best possible"}, "th"),
      html_row({"joint model, expected", percent(psi.mean)}, "td"),
      html_row({"half of all runs", percent(psi.p25) + " to " + percent(psi.p75)}, "td"),
      html_row({"of it: noise", percent(psi.privacy)}, "td"),
      html_row({"of it: unfinished optimisation", percent(psi.optimisation)}, "td") +
          (psi.drift != 0
               ? html_row({"of that: local models that drift apart", percent(psi.drift)}, "td")
               : ""),
      html_row({"public rows alone", percent(psi.pilot_only)}, "td") +
          (realised ? html_row({fmt::format("realised, {} runs", realised->runs),
                                percent(realised->mean)},
                               "td")
                    : ""),
      html_row({"90 % interval, public rows' own error included",
                percent(psi.low) + " to " + percent(psi.high)},
               "td") +
          html_row({"distance of the coefficients from the best ones",
                    significant(f.joint.optimum.distance)},
                   "td"),
      escaped(f.basis.predictor), escaped(f.basis.why), grouped(f.basis.pilot_rows),
      f.job.charter_hash, kVersion);
}

}  // namespace

std::string to_fragment(const Forecast& f) {
  const std::string top = fmt::format(
      "<h1>{}</h1>\n<p class=quiet>Forecast of training together on {}, before anyone spends "
      "anything</p>\n",
      escaped(f.job.charter), escaped(f.job.target_column));
  return top + questions(first_answers(f)) + html_table(f, verdict_cells(f, kShownOnPage)) +
         questions(more_answers(f)) + warnings(f.advice.warnings) + owners(f) + epsilon_chart(f) +
         break_even_chart(f) + epsilon_rows_map(f) + budget_chart(f) + coalitions(f) +
         scenarios(f.what_if.scenarios) + comparison_chart(f) + local_steps(f.advice.steps) +
         chosen(f.advice.chosen) + html_figures(f);
}

std::string to_html(const Forecast& f, const std::string& first) {
  return html_page(f.job.charter + ": forecast", kStyle, first + to_fragment(f));
}

}  // namespace parley::report
