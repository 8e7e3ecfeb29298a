#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "parley/base/files.h"
#include "parley/report/provenance.h"
#include "studies/reproduce/output/output.h"
#include "studies/reproduce/plot/plot.h"

namespace parley::reproduce {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json json_of(const Measure& measure) {
  return {{"quantity", measure.quantity},
          {"value", number(measure.value)},
          {"standard_error", number(measure.error)},
          {"unit", measure.unit},
          {"paper", measure.paper ? Json(*measure.paper) : Json()},
          {"accept", {{"between", {number(measure.least), number(measure.most)}}}},
          {"verdict", name_of(verdict_of(measure))},
          {"fitted_to_claim", measure.fitted},
          {"decides", measure.decides}};
}

Json json_of(const Figure& figure) {
  Json json = {{"id", figure.id},       {"paper", figure.paper}, {"item", figure.item},
               {"title", figure.title}, {"private", false},      {"data", figure.data},
               {"seed", figure.seed},   {"runs", figure.runs},   {"claim", figure.claim}};
  for (const Setting& setting : figure.settings) json["settings"][setting.name] = setting.value;
  json["measures"] = Json::array();
  for (const Measure& measure : figure.measures) json["measures"].push_back(json_of(measure));
  json["verdict"] = name_of(verdict_of(figure));
  json["fitted_to_claim"] = fitted_to_claim(figure);
  json["note"] = figure.note;
  json["files"]["csv"] = figure.id + ".csv";
  if (!figure.panels.empty()) json["files"]["svg"] = figure.id + ".svg";
  json["seconds"] = figure.seconds;
  return json;
}

size_t count(const Reproduction& reproduction, Verdict verdict) {
  return static_cast<size_t>(std::ranges::count_if(
      reproduction.figures, [&](const Figure& figure) { return verdict_of(figure) == verdict; }));
}

/// The measure that a line of the table shows: the one that turned the verdict, else the first.
const Measure* telling(const Figure& figure) {
  const Measure* first = nullptr;
  for (const Measure& measure : figure.measures) {
    if (!measure.decides) continue;
    if (!first) first = &measure;
    if (verdict_of(measure) == verdict_of(figure)) return &measure;
  }
  return first;
}

}  // namespace

std::string verdicts_markdown(const std::vector<Figure>& figures) {
  std::string text =
      "| figure | what | verdict | fitted | measured | ours | the paper's |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const Figure& figure : figures) {
    bool first = true;
    for (const Measure& measure : figure.measures) {
      const std::string head = first ? fmt::format("| {} | {} | **{}** |", figure.id, figure.title,
                                                   name_of(verdict_of(figure)))
                                     : "| | | |";
      text += fmt::format("{} {} | {}{} | {} | {} |\n", head, measure.fitted ? "yes" : "no",
                          measure.quantity, measure.decides ? "" : " *(beside)*",
                          with_error(measure), promised(measure));
      first = false;
    }
    if (first)
      text += fmt::format("| {} | {} | **{}** | no | nothing could be measured | | |\n", figure.id,
                          figure.title, name_of(verdict_of(figure)));
  }
  return text;
}

std::string to_json(const Reproduction& reproduction) {
  Json json = {{"format", "parley.reproduce/1"},
               {"parley", report::provenance()},
               {"mode", reproduction.quick ? "quick" : "full"},
               {"seed", reproduction.seed},
               {"data", reproduction.data.empty() ? Json() : Json(reproduction.data)},
               {"figures", Json::array()}};
  for (const Figure& figure : reproduction.figures) json["figures"].push_back(json_of(figure));
  json["summary"] = {{"reproduced", count(reproduction, Verdict::kReproduced)},
                     {"refuted", count(reproduction, Verdict::kRefuted)},
                     {"not_reproduced", count(reproduction, Verdict::kNotReproduced)}};
  json["seconds"] = reproduction.seconds;
  return json.dump(2) + "\n";
}

std::string to_text(const Reproduction& reproduction, const std::filesystem::path& out) {
  std::string text;
  for (const Figure& figure : reproduction.figures) {
    const Measure* measure = telling(figure);
    text += fmt::format("{:<9} {:<15}{} {}\n", figure.id, name_of(verdict_of(figure)),
                        fitted_to_claim(figure) ? "(fitted)" : "        ", figure.title);
    if (measure)
      text += fmt::format("{:<9} {}: {}, the paper's: {}\n", "", measure->quantity,
                          with_error(*measure), promised(*measure));
  }
  text += fmt::format(
      "\n{} reproduced, {} refuted, {} not reproduced, in {:.1f} s{}.\n"
      "All of it: {}\nNOT PRIVATE: fitness is measured on all records, and the noise is seeded.\n",
      count(reproduction, Verdict::kReproduced), count(reproduction, Verdict::kRefuted),
      count(reproduction, Verdict::kNotReproduced), reproduction.seconds,
      reproduction.quick ? "; quick: small sizes, verdicts mean little" : "",
      (out / "index.html").string());
  return text;
}

Result<void> write_figure(const Figure& figure, const std::filesystem::path& out) {
  TRY(make_directories(out));
  TRY(write_file(out / (figure.id + ".csv"), csv_of(figure)));
  if (figure.panels.empty()) return {};
  return write_file(out / (figure.id + ".svg"), svg_of(figure));
}

Result<void> write_summary(const Reproduction& reproduction, const std::filesystem::path& out) {
  TRY(make_directories(out));
  TRY(write_file(out / "index.html", page_of(reproduction)));
  TRY(write_file(out / "verdicts.csv", verdicts_csv(reproduction.figures)));
  TRY(write_file(out / "verdicts.md", verdicts_markdown(reproduction.figures)));
  return write_file(out / "reproduce.json", to_json(reproduction));
}

}  // namespace parley::reproduce
