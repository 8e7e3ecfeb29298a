#include "parley/report/forecast/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "parley/base/math/number.h"
#include "parley/report/forecast/plot.h"
#include "parley/report/page/html.h"

namespace parley::report {
namespace {

constexpr const char *kBlue = "#059", *kOrange = "#c60", *kGrey = "#777";

Axis epsilons(const Forecast& f) {
  return {f.what_if.grid.epsilon.front(), f.what_if.grid.epsilon.back(), 74, 600};
}

std::string with_caption(const std::string& title, const Plot& plot, const std::string& caption) {
  return "<section>\n<h2>" + escaped(title) + "</h2>\n" + plot.done() + "<p class=quiet>" +
         escaped(caption) + "</p>\n</section>\n";
}

/// Today's rows: the middle of the grid is beside it, so both neighbours are mixed.
double psi_today(const Forecast& f, size_t e) {
  const auto& grid = f.what_if.grid;
  const size_t count = grid.epsilon.size();
  size_t above = 0;
  while (above + 1 < grid.times.size() && grid.times[above] < 1) ++above;
  const size_t below = above > 0 ? above - 1 : 0;
  const double low = std::log(grid.times[below]), high = std::log(grid.times[above]);
  const double share = high > low ? (0 - low) / (high - low) : 0;
  return std::exp((1 - share) * std::log(grid.psi[below * count + e]) +
                  share * std::log(grid.psi[above * count + e]));
}

double hardest(const Forecast& f) {
  double least = f.owners.front().local_only;
  for (const auto& owner : f.owners) least = std::min(least, owner.local_only);
  return least;
}

/// The epsilon at which a row of the map falls below what the largest owner reaches alone.
std::optional<double> crossing(const Forecast& f, size_t r) {
  const auto& grid = f.what_if.grid;
  const size_t count = grid.epsilon.size();
  const double alone = hardest(f) / (f.job.columns ? 1 : grid.times[r]);  // Few columns stay few.
  for (size_t e = 0; e < count; ++e) {
    const double psi = grid.psi[r * count + e];
    if (psi > alone) continue;
    if (e == 0) return grid.epsilon[0];
    const double before = grid.psi[r * count + e - 1];
    const double share = std::log(before / alone) / std::log(before / psi);
    return grid.epsilon[e - 1] * std::pow(grid.epsilon[e] / grid.epsilon[e - 1], share);
  }
  return std::nullopt;
}

}  // namespace

std::string epsilon_chart(const Forecast& f) {
  std::vector<double> all;
  Plot::Points together;
  double low = f.owners.front().local_only, high = low;
  for (size_t e = 0; e < f.what_if.grid.epsilon.size(); ++e) {
    together.emplace_back(f.what_if.grid.epsilon[e], psi_today(f, e));
    all.push_back(together.back().second);
  }
  for (const auto& owner : f.owners)
    low = std::min(low, owner.local_only), high = std::max(high, owner.local_only);
  all.push_back(low), all.push_back(high);
  const auto [bottom, top] = decades(all);
  Plot plot(epsilons(f), {bottom, top, 250, 20}, 300, "relative fitness against epsilon");
  plot.ticks(true);
  std::vector<std::pair<double, std::string>> names = {{together.back().second, "together"}};
  if (low > 0) {
    plot.band(low, high, kOrange);
    names.emplace_back(high, "alone");
  }
  plot.line(together, kBlue);
  plot.name_lines(names);
  plot.below("ε of every owner");
  return with_caption("At which ε", plot,
                      fmt::format("Expected relative fitness: how far above the best possible the "
                                  "joint model ends, and models of single owners' {}.",
                                  f.job.columns ? "columns" : "rows"));
}

std::string epsilon_rows_map(const Forecast& f) {
  const auto& grid = f.what_if.grid;
  double low = grid.psi.front(), high = low;
  for (const double psi : grid.psi) low = std::min(low, psi), high = std::max(high, psi);
  low = std::max(low, high * 1e-12);
  const size_t across = grid.epsilon.size(), up = grid.times.size();
  Plot plot(epsilons(f), {grid.times.front(), grid.times.back(), 310, 10}, 360,
            "relative fitness by epsilon and rows");
  const double width = (600.0 - 74) / static_cast<double>(across),
               tall = 300 / static_cast<double>(up);
  std::map<int, Polyline> shades;
  for (size_t r = 0; r < up; ++r)
    for (size_t e = 0; e < across; ++e) {
      const double share = std::log(std::max(grid.psi[r * across + e], low) / low) /
                           std::max(std::log(high / low), 1e-9);
      shades[22 + static_cast<int>(73 * share)].emplace_back(
          74 + width * static_cast<double>(e), 310 - tall * static_cast<double>(r + 1));
    }
  for (const auto& [lightness, cells] : shades)
    plot.cells(cells, {width + .3, tall + .3}, lightness);
  plot.ticks(false);
  Plot::Points border;
  for (size_t r = 0; r < up; ++r)
    if (const auto epsilon = crossing(f, r)) border.emplace_back(*epsilon, grid.times[r]);
  if (border.size() > 1) plot.line(border, kOrange);
  plot.cross(f.owners.front().epsilon, 1, kOrange);
  for (int k = 0; k <= 10; ++k)  // The scale.
    plot.cells({{616, 290 - 27.0 * k}}, {16, 27.3}, 22 + static_cast<int>(7.3 * k));
  plot.text(636, 316, significant(100 * low) + " %", "start");
  plot.text(636, 30, significant(100 * high) + " %", "start");
  plot.below("ε of every owner");
  return with_caption(
      "What if: ε and rows", plot,
      "Relative fitness by ε (across) and by how many times the rows of today owners hold (up). "
      "Right of the orange line joint is ahead of every owner alone; the cross is the charter.");
}

std::string break_even_chart(const Forecast& f) {
  const auto& curves = f.what_if.break_even;
  const auto& epsilon = f.what_if.grid.epsilon;
  if (f.owners.size() < 2 || curves.empty()) return "";
  std::vector<double> all;
  for (const auto& curve : curves)
    for (const auto& own : curve.epsilon)
      if (own) all.push_back(std::clamp(*own, 1e-4, 1e4));
  const auto [bottom, top] = decades(all);
  Plot plot(epsilons(f), {bottom, top, 250, 20}, 300, "break-even epsilon by that of the others");
  plot.ticks(false);
  std::vector<std::pair<double, std::string>> names;
  for (size_t i = 0; i < curves.size(); ++i) {
    Plot::Points points;
    for (size_t e = 0; e < epsilon.size(); ++e)
      if (const auto& own = curves[i].epsilon[e])
        points.emplace_back(epsilon[e], std::clamp(*own, bottom, top));
    if (points.empty()) continue;
    plot.line(points, kLineColours[i % kLineColours.size()], kLineDashes[i % kLineDashes.size()]);
    names.emplace_back(points.back().second, curves[i].owner);
  }
  if (names.empty()) return "";
  plot.name_lines(names);
  plot.below("ε of the others");
  return with_caption("Break-even", plot,
                      "The ε from which joint is ahead of an owner alone by the papers' measure "
                      "(up), by what the others give (across). Where a line "
                      "is missing no ε is enough; where it meets the floor, any is.");
}

std::string comparison_chart(const Forecast& f) {
  const forecast::JointForecast::Comparison& compared = f.joint.comparison;
  std::vector<double> all;
  Plot::Points forecast, smooth, general, both;
  for (const auto& point : compared.points) {
    forecast.emplace_back(point.epsilon, point.forecast);
    smooth.emplace_back(point.epsilon, point.smooth);
    general.emplace_back(point.epsilon, point.general);
    both.emplace_back(point.epsilon, point.both);
    for (const double psi : {point.forecast, point.smooth, point.general, point.both})
      all.push_back(psi);
    if (point.runs) all.push_back(*point.runs);
  }
  if (compared.realised) all.push_back(compared.realised->mean);
  const auto [bottom, top] = decades(all);
  Plot plot({.01, 100, 74, 560}, {bottom, top, 250, 20}, 300, "forecast, bounds and runs");
  plot.ticks(true);
  plot.line(smooth, kGrey, "7 3");
  plot.line(general, kGrey, "2 3");
  plot.line(both, kGrey, "9 3 2 3");
  plot.line(forecast, kBlue);
  for (const auto& point : compared.points)
    if (point.runs) plot.dot(point.epsilon, *point.runs, kOrange);
  if (compared.realised) plot.cross(f.owners.front().epsilon, compared.realised->mean, "#b11");
  plot.name_lines({{forecast.back().second, "forecast"},
                   {smooth.back().second, "bound (9), fitted"},
                   {general.back().second, "bound (11), fitted"},
                   {both.back().second, "asynchronous bound"}});
  plot.below("ε of every owner");
  std::string caption =
      "Blue: the forecast. Grey: the papers' bounds, with a constant and factors fitted to five "
      "forecasts; as proved they are useless.";
  if (std::any_of(compared.points.begin(), compared.points.end(),
                  [](const auto& c) { return bool(c.runs); }))
    caption +=
        " Orange dots: 128 runs each on the public rows, from which the owners' will differ a "
        "little.";
  if (compared.realised)
    caption += fmt::format(" Red cross: what came out on the owners' rows, {} runs.",
                           compared.realised->runs);
  return with_caption("Forecast, bound, simulation", plot, caption);
}

}  // namespace parley::report
