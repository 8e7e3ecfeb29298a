// parley_mistaken [NAME...]: computes figures with mistakes in what computes them
// (tests/mistakes.py) and says which verdicts notice. Exit 1 if one survives.
//
// An item that is reproduced without the mistake must not be with it; of another, a measure must
// have another verdict. On one draw of the stand-ins, with the runs of a further draw.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <thread>

#include "studies/reproduce/registry.h"
#include "studies/reproduce/verdict.h"
#include "support/mistaken.h"

int parley::mistake_made = -1;

namespace parley::reproduce {
namespace {

const Entry& entry_of(std::string_view id) {
  const auto found = std::ranges::find(entries(), id, &Entry::id);
  if (found == entries().end()) fmt::print("there is no item {}\n", id), std::exit(2);
  return *found;
}

/// Small where full sizes would take long, and as many runs as it takes to decide where they are
/// cheap.
Study study_of(std::string_view id, const Study& usual) {
  Study study = usual;
  study.quick = id == "V-F2" || id == "V-F3b";
  study.further = !study.quick;
  constexpr std::string_view kCheap[] = {"S-F2", "S-F3", "S-F4", "S-F5", "A-F2", "A-F4", "A-F5"};
  if (std::ranges::count(kCheap, id) > 0) study.runs = 200;
  if (id == "S-claim2" || id == "S-claim3") study.runs = 1'000;
  if (id == "H-rate") study.runs = 64;
  return study;
}

Figure figure_of(std::string_view id, const Study& usual) {
  auto figure = compute(entry_of(id), study_of(id, usual));
  if (!figure) fmt::print("{}: {}\n", id, figure.error().what), std::exit(2);
  count_tallies(figure->measures);
  return *std::move(figure);
}

/// A measure that has another verdict, or is not there any more.
const Measure* changed(const Figure& right, const Figure& wrong) {
  for (const Measure& measure : right.measures) {
    if (!measure.decides && measure.tally.empty()) continue;
    const auto same = std::ranges::find(wrong.measures, measure.quantity, &Measure::quantity);
    if (same == wrong.measures.end() || verdict_of(*same) != verdict_of(measure)) return &measure;
  }
  return nullptr;
}

/// The item's line, and whether the mistake survives.
bool look_at(std::string_view id, const Figure& right, const Figure& wrong) {
  const Verdict before = verdict_of(right), after = verdict_of(wrong);
  const Measure* measure = changed(right, wrong);
  const bool noticed = before == Verdict::kReproduced ? after != before : measure != nullptr;
  std::string how(name_of(before));
  if (after != before)
    how += fmt::format(" -> {}", name_of(after));
  else if (measure)
    how += ", with another verdict of: " + measure->quantity;
  fmt::print("    {:<11} {}: {}\n", id, noticed ? "noticed" : "SURVIVES", how);
  return !noticed;
}

}  // namespace

int run(const std::vector<std::string_view>& asked) {
  Study usual;
  usual.threads = std::max(1, int(std::thread::hardware_concurrency()));
  const auto wanted = [&](const Mistake& mistake) {
    return asked.empty() || std::ranges::count(asked, mistake.name) > 0;
  };
  const std::vector<Mistake>& all = mistakes();
  std::map<std::string_view, Figure> right;
  for (const Mistake& mistake : all)
    for (std::string_view id : mistake.items)
      if (wanted(mistake) && !right.contains(id)) right.emplace(id, figure_of(id, usual));
  size_t made = 0, looked = 0, survive = 0;
  for (size_t k = 0; k < all.size(); ++k) {
    if (!wanted(all[k])) continue;
    mistake_made = int(k), ++made;
    usual.computed = std::make_shared<std::map<std::string, std::any>>();
    fmt::print("{}: {}\n", all[k].name, all[k].what);
    for (std::string_view id : all[k].items)
      ++looked, survive += look_at(id, right.at(id), figure_of(id, usual));
    std::fflush(stdout);
  }
  fmt::print("\n{} mistakes in the computation, {} verdicts looked at, of {} items: {} survive.\n",
             made, looked, right.size(), survive);
  return survive > 0;
}

}  // namespace parley::reproduce

int main(int count, char** words) { return parley::reproduce::run({words + 1, words + count}); }
