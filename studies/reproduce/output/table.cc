#include <fmt/format.h>

#include <algorithm>

#include "studies/reproduce/output/output.h"

namespace parley::reproduce {
namespace {

/// As a cell of a table: a bar would end it.
std::string in_cell(std::string_view text) {
  std::string safe;
  for (char c : text) safe += c == '|' ? std::string("\\|") : std::string(1, c);
  return safe;
}

std::string how_it_counts(const Measure& measure) {
  if (measure.decides) return std::string(name_of(verdict_of(measure)));
  return measure.tally.empty() ? "*beside*" : fmt::format("*{}*", name_of(verdict_of(measure)));
}

std::string lines_of(const std::vector<Measure>& measures, DataKind kind, std::string head) {
  std::string text;
  for (const Measure& measure : measures) {
    if (!shown(measures, measure)) continue;
    const std::string draws = measure.draws > 1 ? fmt::format(", {} draws", measure.draws) : "";
    text +=
        fmt::format("{} {} | {} | {} | {} | {} | {}{} | {} |\n", head, in_cell(measure.quantity),
                    with_error(measure), promised(measure), accepted(measure),
                    measure.fitted ? "yes" : "no", data_words(kind), draws, how_it_counts(measure));
    head = "| | | |";
  }
  return text;
}

std::string table_of(const std::vector<Figure>& figures, bool beyond) {
  std::string text;
  for (const Figure& figure : figures) {
    if (figure.paper.empty() != beyond) continue;
    const std::string head = fmt::format("| {} | {} | **{}** |", figure.id, in_cell(figure.claim),
                                         name_of(verdict_of(figure)));
    const std::string lines = lines_of(figure.measures, figure.kind, head);
    text += lines.empty() ? head + " nothing could be measured | | | | | | |\n" : lines;
    text += lines_of(figure.on_standin, DataKind::kStandin, "| | | |");
  }
  if (text.empty()) return text;
  return fmt::format(
             "| item | {} | verdict | measured | ours | the paper's | accepted | fitted | data | "
             "|\n"
             "|---|---|---|---|---|---|---|---|---|---|\n",
             beyond ? "what must hold" : "the paper's sentence") +
         text;
}

/// How many of the papers' items have each verdict: all, on stand-ins, on real records.
std::string counts_of(const std::vector<Figure>& figures) {
  size_t all[3] = {}, standin[3] = {}, real[3] = {};
  const auto add = [](size_t(&counts)[3], std::optional<Verdict> verdict) {
    if (verdict) ++counts[static_cast<size_t>(*verdict)];
  };
  for (const Figure& figure : figures) {
    if (figure.paper.empty()) continue;
    add(all, verdict_of(figure));
    const bool made = figure.kind == DataKind::kStandin;
    add(standin, verdict_of(made ? figure.measures : figure.on_standin));
    if (!made && figure.kind != DataKind::kNone) add(real, verdict_of(figure.measures));
  }
  std::string text =
      "| verdict | items | on stand-ins alone | on real records alone |\n"
      "|---|---|---|---|\n";
  for (const Verdict verdict : {Verdict::kReproduced, Verdict::kRefuted, Verdict::kNotDecided}) {
    const auto k = static_cast<size_t>(verdict);
    text += fmt::format("| {} | {} | {} | {} |\n", name_of(verdict), all[k], standin[k], real[k]);
  }
  return text;
}

}  // namespace

std::string verdicts_markdown(const std::vector<Figure>& figures) {
  std::string text = counts_of(figures) + "\n" + table_of(figures, false);
  if (const std::string beyond = table_of(figures, true); !beyond.empty())
    text += "\n## Beyond the papers\n\n" + beyond;
  return text;
}

Mutation mutated(const std::vector<Figure>& figures) {
  Mutation result;
  const auto look = [&](const Figure& figure, const std::vector<Measure>& measures) {
    for (const Measure& measure : measures) {
      if (!measure.decides && measure.tally.empty()) continue;
      ++(measure.decides ? result.measures : result.comparisons);
      const auto left = unnoticed(measure);
      result.survivors += !left.empty();
      std::string ways;
      for (const Broken& each : broken(measure))
        ways += fmt::format(", {}: {}", each.how,
                            std::ranges::count(left, each.how) ? "SURVIVES" : "noticed");
      result.text += fmt::format("{:<11} {} ({}){}\n",
                                 measure.decides ? figure.id : "    counted:", measure.quantity,
                                 name_of(verdict_of(measure)), ways);
    }
  };
  for (const Figure& figure : figures)
    look(figure, figure.measures), look(figure, figure.on_standin);
  result.text += fmt::format("\n{} deciding measures and {} comparisons broken, {} survive.\n",
                             result.measures, result.comparisons, result.survivors);
  return result;
}

}  // namespace parley::reproduce
