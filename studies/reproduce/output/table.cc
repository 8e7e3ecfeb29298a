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
    text += fmt::format("{} {} | {} | {} | {} | {} | {} | {} |\n", head, in_cell(measure.quantity),
                        with_error(measure), promised(measure), accepted(measure),
                        measure.fitted ? "yes" : "no", data_words(kind, measure),
                        how_it_counts(measure));
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

/// How many items have each verdict, and how many of those reproduced have a deciding measure that
/// was fitted.
struct Counts {
  size_t verdicts[3] = {}, calibrated = 0;
  void add(std::optional<Verdict> verdict, bool fitted) {
    if (!verdict) return;
    ++verdicts[static_cast<size_t>(*verdict)];
    calibrated += fitted && verdict == Verdict::kReproduced;
  }
};

/// The papers' items: all, on stand-ins, on real records.
std::string counts_of(const std::vector<Figure>& figures) {
  Counts all, standin, real;
  for (const Figure& figure : figures) {
    if (figure.paper.empty()) continue;
    all.add(verdict_of(figure), fitted_to_claim(figure));
    const bool made = figure.kind == DataKind::kStandin;
    const std::vector<Measure>& on_standin = made ? figure.measures : figure.on_standin;
    standin.add(verdict_of(on_standin), fitted_to_claim(on_standin));
    if (!made && figure.kind != DataKind::kNone)
      real.add(verdict_of(figure.measures), fitted_to_claim(figure.measures));
  }
  std::string text =
      "| verdict | items | on stand-ins alone | on real records alone |\n"
      "|---|---|---|---|\n";
  const auto line = [&](std::string_view name, const auto& count) {
    text += fmt::format("| {} | {} | {} | {} |\n", name, count(all), count(standin), count(real));
  };
  for (const Verdict verdict : {Verdict::kReproduced, Verdict::kRefuted, Verdict::kNotDecided}) {
    line(name_of(verdict),
         [&](const Counts& counts) { return counts.verdicts[static_cast<size_t>(verdict)]; });
    if (verdict == Verdict::kReproduced)
      line("of these by calibration: a deciding measure was fitted",
           [](const Counts& counts) { return counts.calibrated; });
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

namespace {

std::string_view word_of(Notice notice, bool must) {
  if (notice == Notice::kItem) return "the item's verdict changes";
  if (notice == Notice::kMeasure) return "its verdict changes, the item's stays";
  return must ? "SURVIVES" : "stands, being one-sided";
}

void look_at(const Figure& figure, bool standin, size_t index, Mutation& result) {
  const Measure& measure = (standin ? figure.on_standin : figure.measures)[index];
  ++(measure.decides ? result.measures : result.comparisons);
  std::string ways;
  bool survives = false;
  for (const Broken& each : broken(measure)) {
    const Notice notice = notice_of(figure, standin, index, each);
    ++result.breaks;
    result.by_construction += each.by_construction;
    result.items += notice == Notice::kItem;
    result.own += notice == Notice::kMeasure;
    result.stand += notice == Notice::kNone && !each.must_be_noticed;
    survives |= notice == Notice::kNone && each.must_be_noticed;
    ways += fmt::format("; {}: {}{}", each.how, word_of(notice, each.must_be_noticed),
                        each.by_construction ? " (by construction)" : "");
  }
  result.survivors += survives;
  result.text += fmt::format("{:<11} {} ({}{}){}\n",
                             measure.decides ? figure.id : "    counted:", measure.quantity,
                             standin ? "stand-in, " : "", name_of(verdict_of(measure)), ways);
}

}  // namespace

Mutation mutated(const std::vector<Figure>& figures) {
  Mutation result;
  for (const Figure& figure : figures)
    for (const bool standin : {false, true}) {
      const auto& measures = standin ? figure.on_standin : figure.measures;
      for (size_t k = 0; k < measures.size(); ++k)
        if (measures[k].decides || !measures[k].tally.empty()) look_at(figure, standin, k, result);
    }
  result.text += fmt::format(
      "\n{} deciding measures and {} comparisons were broken in {} ways: {} change the item's "
      "verdict, {} only the measure's, {} need not be noticed, {} survive. {} are noticed by "
      "construction: they would take any number out of its range, or into it.\n",
      result.measures, result.comparisons, result.breaks, result.items, result.own, result.stand,
      result.survivors, result.by_construction);
  return result;
}

}  // namespace parley::reproduce
