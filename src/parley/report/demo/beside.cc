#include "parley/report/demo/beside.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "parley/report/forecast/owners.h"
#include "parley/report/own_figures.h"
#include "parley/report/table.h"

namespace parley::report {
namespace {

using learn::OwnerFigures;
using Owner = Forecast::Owner;

/// An owner's forecast and its figures.
struct Pair {
  const Owner& forecast;
  const OwnerFigures& figures;
};

std::vector<Pair> pairs_of(const Forecast& f, const sim::SimulateResult& result) {
  std::vector<Pair> pairs;
  for (size_t i = 0; i < f.owners.size() && i < result.figures.size(); ++i)
    if (result.figures[i].figures && f.owners[i].personal)
      pairs.push_back({f.owners[i], *result.figures[i].figures});
  return pairs;
}

using Expected = std::function<MetricRange(const Owner&)>;
using Found = std::function<learn::Figure(const OwnerFigures&)>;

/// Both errors together, at 90 %.
bool inside(const MetricRange& range, const learn::Figure& found) {
  constexpr double kNinety = 1.645;
  const double half = found.value < range.mean ? range.mean - range.low : range.high - range.mean;
  return std::fabs(found.value - range.mean) <= std::hypot(half, kNinety * found.error);
}

Beside row_of(const std::string& what, const std::vector<Pair>& pairs, const Expected& expected,
              const Found& found) {
  Beside row{.what = what};
  const auto n = static_cast<double>(pairs.size());
  for (const Pair& pair : pairs) {
    const MetricRange range = expected(pair.forecast);
    const learn::Figure value = found(pair.figures);
    row.forecast.mean += range.mean / n;
    row.forecast.low += range.low / n, row.forecast.high += range.high / n;
    row.came_out += value.value / n;
    row.inside += inside(range, value);
  }
  return row;
}

void count_told(Told& told, const GainVerdict& verdict, bool gained) {
  const bool worth_it = verdict.answer == GainAnswer::kWorthIt;
  told.worth_it += worth_it, told.gained += worth_it && gained, told.missed += !worth_it && gained;
}

std::string told_of(const Told& told, const std::string& against) {
  if (told.worth_it == 0)
    return fmt::format("against {} nobody was told \"worth it\", {} gained as much", against,
                       told.missed);
  return fmt::format("of {} owners told \"worth it\" against {} {} gained as much", told.worth_it,
                     against, told.gained);
}

}  // namespace

BesideTable beside(const Forecast& f, const sim::SimulateResult& result) {
  const std::vector<Pair> pairs = pairs_of(f, result);
  BesideTable found{.owners = pairs.size()};
  if (pairs.empty()) return found;
  const auto add = [&](const char* what, const Expected& expected, const Found& value) {
    found.rows.push_back(row_of(what, pairs, expected, value));
  };
  add(
      "alone", [](const Owner& o) { return o.alone; },
      [](const OwnerFigures& f) { return f.alone; });
  add(
      "own + public", [](const Owner& o) { return o.own_public.value_or(MetricRange()); },
      [](const OwnerFigures& f) { return f.own_public; });
  add(
      "joint", [](const Owner& o) { return o.joint; },
      [](const OwnerFigures& f) { return f.joint.value_or(learn::Figure()); });
  add(
      "personal", [](const Owner& o) { return *o.personal; },
      [](const OwnerFigures& f) { return f.personal; });
  add(
      "gain against alone", [](const Owner& o) { return o.against_alone.gain; },
      [](const OwnerFigures& f) { return learn::Figure{f.over_alone.value, f.over_alone.error}; });
  add(
      "gain against own + public", [](const Owner& o) { return o.against_own_public->gain; },
      [](const OwnerFigures& f) {
        return learn::Figure{f.over_own_public.value, f.over_own_public.error};
      });
  const double worth = result.worth.value_or(learn::default_worth(pairs.front().figures.measure));
  for (const auto& [forecast, figures] : pairs) {
    const auto gained = [&](double gain, double than) {
      return counts(figures.measure, worth, gain, than);
    };
    count_told(found.against_alone, forecast.against_alone,
               gained(figures.over_alone.value, figures.alone.value));
    count_told(found.against_own_public, *forecast.against_own_public,
               gained(figures.over_own_public.value, figures.own_public.value));
  }
  return found;
}

std::vector<std::vector<std::string>> beside_cells(const BesideTable& both, const Forecast& f) {
  std::vector<std::vector<std::string>> cells = {
      {fmt::format("{}, mean of {}", metric_name(f), both.owners), "forecast",
       "90 % interval of one", "came out", "inside it"}};
  for (const Beside& row : both.rows)
    cells.push_back({row.what, metric_text(f, row.forecast.mean),
                     metric_text(f, row.forecast.low) + " to " + metric_text(f, row.forecast.high),
                     metric_text(f, row.came_out),
                     fmt::format("{} of {}", row.inside, both.owners)});
  return cells;
}

std::string told_sentence(const BesideTable& both) {
  std::string text = told_of(both.against_alone, "alone") + "; " +
                     told_of(both.against_own_public, "own + public") + ".";
  text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string to_text(const BesideTable& both, const Forecast& f) {
  if (both.owners == 0) return "No owner has figures to put beside the forecast.\n";
  return table(beside_cells(both, f)) + told_sentence(both) + "\n";
}

}  // namespace parley::report
