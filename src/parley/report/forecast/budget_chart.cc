// Budget over time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "parley/base/math/number.h"
#include "parley/plan/budget.h"
#include "parley/report/forecast/charts.h"
#include "parley/report/forecast/plot.h"
#include "parley/report/page/html.h"

namespace parley::report {
namespace {

constexpr std::array kTold = {.5, 1., 2., 5., 12., 50.};  // jobs, in the table
constexpr size_t kMostLines = 4;

/// Owners that give the same are one line.
struct Line {
  std::string name{};
  double epsilon = 0, delta = 0;
  double after(double jobs) const {
    const auto all = plan::epsilon_of_jobs(epsilon, delta, jobs);
    return all ? *all : epsilon * jobs;
  }
};

/// The least, the largest and two between, if there are more.
std::vector<Line> lines_of(const Forecast& f) {
  std::map<std::pair<double, double>, std::vector<std::string>> alike;
  for (const auto& owner : f.owners) alike[{owner.epsilon, owner.delta}].push_back(owner.name);
  std::vector<Line> all;
  for (const auto& [promise, names] : alike)
    all.push_back({names.size() == 1 ? names[0] : fmt::format("{} owners", names.size()),
                   promise.first, promise.second});
  if (all.size() <= kMostLines) return all;
  const size_t last = all.size() - 1;
  return {all[0], all[last / 3], all[2 * last / 3], all[last]};
}

std::string table_of(const std::vector<Line>& lines) {
  std::vector<std::string> head = {"jobs like this one"};
  for (const double jobs : kTold) head.push_back(jobs < 1 ? "half of it" : significant(jobs));
  std::string text =
      "<div class=wide tabindex=0 role=group aria-label=\"budget over time\">"
      "<table>\n" +
      html_row(head, "th");
  for (const Line& line : lines) {
    std::vector<std::string> cells = {"ε of " + line.name};
    for (const double jobs : kTold) cells.push_back(significant(line.after(jobs)));
    text += html_row(cells, "td");
  }
  return text + "</table></div>\n";
}

}  // namespace

std::string budget_chart(const Forecast& f) {
  constexpr double kFrom = .01, kTo = 100;
  constexpr int kPoints = 41;
  const std::vector<Line> lines = lines_of(f);
  std::vector<double> ends;
  std::vector<Plot::Points> drawn(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    for (int k = 0; k < kPoints; ++k) {
      const double jobs = kFrom * std::pow(kTo / kFrom, k / (kPoints - 1.0));
      drawn[i].emplace_back(jobs, lines[i].after(jobs));
    }
    ends.push_back(drawn[i].front().second), ends.push_back(drawn[i].back().second);
  }
  const auto [bottom, top] = decades(ends);
  Plot plot({kFrom, kTo, 74, 600}, {bottom, top, 250, 20}, 300, "epsilon spent over time");
  plot.ticks(false);
  std::vector<std::pair<double, std::string>> names;
  for (size_t i = 0; i < lines.size(); ++i) {
    plot.line(drawn[i], kLineColours[i], kLineDashes[i]);
    plot.cross(1, lines[i].epsilon, kLineColours[i]);
    names.emplace_back(drawn[i].back().second, lines[i].name);
  }
  plot.name_lines(names);
  plot.below("jobs like this one; below 1 the part of its answers that were given");
  return "<section>\n<h2>Budget over time</h2>\n" + plot.done() + table_of(lines) +
         "<p class=quiet>ε that is gone as the job goes on (left of the cross, which is this job) "
         "and if it is run again and again (right of it). Without a delta every job adds its ε; "
         "with one, ε grows more slowly than the number of jobs.</p>\n</section>\n";
}

}  // namespace parley::report
