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
          {"read_as", measure.read_as},
          {"accept", {{"between", {number(measure.least), number(measure.most)}}}},
          {"draws", measure.draws},
          {"runs", measure.runs},
          {"tally", measure.tally},
          {"verdict", name_of(verdict_of(measure))},
          {"fitted_to_claim", measure.fitted},
          {"decides", measure.decides}};
}

Json json_of(const Figure& figure) {
  Json json = {{"id", figure.id},       {"paper", figure.paper}, {"item", figure.item},
               {"title", figure.title}, {"private", false},      {"data", figure.data},
               {"seed", figure.seed},   {"runs", figure.runs},   {"claim", figure.claim}};
  for (const Setting& setting : figure.settings) json["settings"][setting.name] = setting.value;
  json["kind"] = data_words(figure.kind);
  for (const auto& [key, measures] :
       {std::pair("measures", &figure.measures), std::pair("on_standin", &figure.on_standin)}) {
    json[key] = Json::array();
    for (const Measure& measure : *measures) json[key].push_back(json_of(measure));
  }
  json["verdict"] = name_of(verdict_of(figure));
  json["why_not_decided"] = why_not_decided(figure);
  json["fitted_to_claim"] = fitted_to_claim(figure);
  json["note"] = figure.note;
  json["files"]["csv"] = figure.id + ".csv";
  if (!figure.panels.empty()) json["files"]["svg"] = figure.id + ".svg";
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

/// What makes this result in one run, also where it was put together from parts.
Json provenance_of(const Reproduction& reproduction) {
  std::vector<std::string> command = {"parley", "reproduce"};
  command.insert(command.end(), reproduction.asked.begin(), reproduction.asked.end());
  if (reproduction.quick) command.push_back("--quick");
  if (!reproduction.data.empty()) command.insert(command.end(), {"--data", reproduction.data});
  for (const auto& [option, value] :
       {std::pair("--seed", reproduction.seed), std::pair("--draws", reproduction.draws)})
    command.insert(command.end(), {option, std::to_string(value)});
  Json json = report::provenance();
  json["command"] = std::move(command);
  json["seed"] = reproduction.seed;
  return json;
}

}  // namespace

std::string to_json(const Reproduction& reproduction) {
  Json json = {{"format", "parley.reproduce/1"},
               {"parley", provenance_of(reproduction)},
               {"mode", reproduction.quick ? "quick" : "full"},
               {"seed", reproduction.seed},
               {"draws", reproduction.draws},
               {"data", reproduction.data.empty() ? Json() : Json(reproduction.data)},
               {"figures", Json::array()}};
  for (const Figure& figure : reproduction.figures) json["figures"].push_back(json_of(figure));
  json["summary"] = {{"reproduced", count(reproduction, Verdict::kReproduced)},
                     {"refuted", count(reproduction, Verdict::kRefuted)},
                     {"not_decided", count(reproduction, Verdict::kNotDecided)}};
  return json.dump(2) + "\n";
}

std::string to_text(const Reproduction& reproduction, const std::filesystem::path& out,
                    double seconds) {
  std::string text;
  for (const Figure& figure : reproduction.figures) {
    const Measure* measure = telling(figure);
    text += fmt::format("{:<11} {:<13}{} {}\n", figure.id, name_of(verdict_of(figure)),
                        fitted_to_claim(figure) ? "(fitted)" : "        ", figure.title);
    if (measure)
      text += fmt::format("{:<11} {}: {}, accepted: {}\n", "", measure->quantity,
                          with_error(*measure), accepted(*measure));
  }
  const Mutation mutation = mutated(reproduction.figures);
  text += fmt::format(
      "\n{} deciding measures and {} comparisons were broken in {} ways, {} of them noticed by "
      "construction; {} survive.",
      mutation.measures, mutation.comparisons, mutation.breaks, mutation.by_construction,
      mutation.survivors);
  text += fmt::format(
      "\n{} reproduced, {} refuted, {} not decided, in {:.1f} s{}.\n"
      "All of it: {}\nNOT PRIVATE: fitness is measured on all records, and the noise is seeded.\n",
      count(reproduction, Verdict::kReproduced), count(reproduction, Verdict::kRefuted),
      count(reproduction, Verdict::kNotDecided), seconds,
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
  TRY(write_file(out / "mutations.txt", mutated(reproduction.figures).text));
  return write_file(out / "reproduce.json", to_json(reproduction));
}

}  // namespace parley::reproduce
