#include "parley/report/demo/demo.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parley/report/demo/beside.h"
#include "parley/report/forecast/answers.h"
#include "parley/report/own_figures.h"
#include "parley/report/provenance.h"
#include "parley/report/simulate.h"
#include "parley/report/table.h"

namespace parley::report {
namespace {

using Json = nlohmann::ordered_json;

std::string forecast_part(const Forecast& f) {
  std::string text = "BEFORE: the forecast, from public rows only; nobody has spent anything\n\n";
  const Answers more = more_answers(f);
  for (const auto& [question, answer] : {first_answers(f).front(), more.front(), more.back()})
    text += fmt::format("{:<13} {}\n", question, answer);
  const size_t warnings = f.advice.warnings.size();
  if (warnings > 0)
    text += fmt::format("{} {} on the page.\n", warnings, warnings == 1 ? "warning" : "warnings");
  return text + "\n";
}

std::string job_part(const sim::SimulateResult& result) {
  const auto& owners = result.owners;
  const auto [least, most] = std::minmax_element(
      owners.begin(), owners.end(),
      [](const auto& a, const auto& b) { return a.epsilon_spent < b.epsilon_spent; });
  return fmt::format(
      "THE JOB, simulated: {} owners, each with its ledger; {} secure sums; ε spent {}\n\n",
      owners.size(), owners.front().answers,
      least->epsilon_spent == most->epsilon_spent
          ? fmt::format("{:.3g}", most->epsilon_spent)
          : fmt::format("{:.3g} to {:.3g}", least->epsilon_spent, most->epsilon_spent));
}

std::string after_part(const Demo& demo) {
  std::string text = "AFTER: what was forecast, and what came out\n\n" +
                     to_text(beside(demo.forecast, demo.result), demo.forecast);
  const auto summaries = summaries_of(demo.result);
  const std::string nothing = summaries.empty() ? "" : nothing_sentence(summaries.front());
  return text + nothing + (nothing.empty() ? "\n" : "\n\n");
}

std::string look_part(const Demo& demo) {
  std::string text = "Look at, in " + demo.folder + "\n";
  size_t width = 0;
  for (const auto& [file, what] : demo.files) width = std::max(width, file.size());
  for (const auto& [file, what] : demo.files)
    text += fmt::format("  {:<{}}  {}\n", file, width, what);
  text += "The same by hand\n  cd " + demo.folder + "\n";
  for (const std::string& command : demo.commands) text += "  " + command + "\n";
  return text;
}

}  // namespace

std::string to_text(const Demo& demo) {
  std::string text;
  for (const std::string& sentence : demo.story) text += sentence + "\n";
  text += "\n" + forecast_part(demo.forecast) + job_part(demo.result) + figures_text(demo.result) +
          after_part(demo) + look_part(demo);
  return text + "NOT PRIVATE: a simulation holds all rows, and its noise can be replayed.\n";
}

std::string to_json(const Demo& demo) {
  Json json = {{"format", "parley.demo/1"},
               {"parley", provenance()},
               {"story", demo.story},
               {"forecast", Json::parse(to_json(demo.forecast))},
               {"simulate", Json::parse(to_json(demo.result))}};
  const BesideTable both = beside(demo.forecast, demo.result);
  for (const Beside& row : both.rows)
    json["beside"].push_back({{"what", row.what},
                              {"forecast", row.forecast.mean},
                              {"interval", {row.forecast.low, row.forecast.high}},
                              {"came_out", row.came_out},
                              {"inside", row.inside},
                              {"owners", both.owners}});
  json["folder"] = demo.folder;
  for (const auto& [file, what] : demo.files)
    json["files"].push_back({{"file", file}, {"what", what}});
  json["commands"] = demo.commands;
  return json.dump(2) + "\n";
}

}  // namespace parley::report
