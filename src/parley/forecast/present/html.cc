// The forecast as one page for people: no scripts, nothing from elsewhere, made to be printed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "parley/base/number.h"
#include "parley/base/version.h"
#include "parley/forecast/forecast.h"
#include "parley/forecast/present/answers.h"
#include "parley/report/table.h"

namespace parley::forecast {
namespace {

using report::significant;

constexpr const char* kStyle =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;"
    "color:#1b1b1b}h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}"
    "dt{font-weight:600;margin-top:.8rem}dd{margin:0}table{border-collapse:collapse;width:100%;"
    "font-variant-numeric:tabular-nums}th,td{padding:.3rem .6rem;text-align:right;"
    "border-bottom:1px solid #ddd}th:first-child,td:first-child{text-align:left}"
    ".quiet{color:#666;font-size:.9rem}.warn{border-left:4px solid #c60;padding:.2rem .8rem;"
    "margin:.5rem 0;background:#fff8f0}svg{max-width:100%;height:auto}"
    "@media print{body{margin:0;max-width:none}h2{break-after:avoid}table,svg{break-inside:avoid}}";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string row(const std::vector<std::string>& cells, const char* tag) {
  std::string text = "<tr>";
  for (const std::string& cell : cells) text += fmt::format("<{0}>{1}</{0}>", tag, escaped(cell));
  return text + "</tr>\n";
}

std::string answers(const Forecast& f) {
  std::string text = "<dl>\n";
  for (const auto& [question, answer] : four_answers(f))
    text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(question), escaped(answer));
  return text + "</dl>\n";
}

std::string owners(const Forecast& f) {
  constexpr size_t kShown = 100;
  std::string text = "<h2>Owner by owner</h2>\n<table>\n" +
                     row({"owner", "rows", "ε", "weight", f.metric + " alone",
                          f.metric + " together", "to the best", "pays from ε", "Shapley share"},
                         "th");
  for (size_t i = 0; i < std::min(f.owners.size(), kShown); ++i) {
    const Forecast::Owner& o = f.owners[i];
    text += row({o.name, grouped(o.rows), significant(o.epsilon), significant(o.weight, 2),
                 metric_text(f, o.local_metric), metric_text(f, f.metric_joint),
                 closer(o.local_only, f.mean),
                 !o.break_even_epsilon        ? "none"
                 : *o.break_even_epsilon == 0 ? "any"
                                              : significant(*o.break_even_epsilon),
                 significant(o.shapley, 2)},
                "td");
  }
  text += "</table>\n";
  if (f.owners.size() > kShown)
    text += fmt::format("<p class=quiet>and {} more</p>\n", f.owners.size() - kShown);
  return text;
}

/// Logarithmic in both directions.
struct Axis {
  double low = 0, high = 1, from = 0, to = 1;
  double at(double value) const {
    const double share =
        (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low));
    return from + std::clamp(share, 0.0, 1.0) * (to - from);
  }
};

std::string label(double x, double y, const std::string& text, const char* anchor) {
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"12\">{}</text>\n", x, y,
      anchor, escaped(text));
}

/// Expected relative fitness against an epsilon of everyone, with what owners reach alone.
std::string curve(const Forecast& f) {
  const auto& grid = f.grid;
  const size_t count = grid.epsilon.size(), middle = grid.times.size() / 2;
  const double* psi = &grid.psi[middle * count];
  double alone_low = f.owners.front().local_only, alone_high = alone_low;
  for (const auto& owner : f.owners) {
    alone_low = std::min(alone_low, owner.local_only);
    alone_high = std::max(alone_high, owner.local_only);
  }
  double low = std::min(psi[count - 1], std::max(alone_low, 1e-12)), high = psi[0];
  low = std::pow(10, std::floor(std::log10(low))), high = std::pow(10, std::ceil(std::log10(high)));
  const Axis x{grid.epsilon.front(), grid.epsilon.back(), 70, 640}, y{low, high, 250, 20};
  std::string svg =
      "<svg viewBox=\"0 0 720 300\" role=\"img\" "
      "aria-label=\"relative fitness against epsilon\">\n";
  for (double tick = low; tick <= high * 1.01; tick *= 10)
    svg +=
        fmt::format("<line x1=\"70\" x2=\"640\" y1=\"{0:.1f}\" y2=\"{0:.1f}\" stroke=\"#ddd\"/>\n",
                    y.at(tick)) +
        label(64, y.at(tick) + 4, significant(100 * tick, 6) + " %", "end");
  for (double tick = grid.epsilon.front(); tick <= grid.epsilon.back() * 1.01; tick *= 10)
    svg += label(x.at(tick), 268, significant(tick, 6), "middle");
  svg += label(355, 290, "ε of every owner", "middle");
  if (alone_low > 0)
    svg += fmt::format(
               "<rect x=\"70\" width=\"570\" y=\"{:.1f}\" height=\"{:.1f}\" fill=\"#c60\" "
               "opacity=\".35\"/>\n",
               y.at(alone_high), std::max(y.at(alone_low) - y.at(alone_high), 2.0)) +
           label(644, y.at(alone_high) + 4, "alone", "start");
  std::string path;
  for (size_t k = 0; k < count; ++k)
    path += fmt::format("{}{:.1f},{:.1f}", k ? " " : "", x.at(grid.epsilon[k]), y.at(psi[k]));
  svg += "<polyline fill=\"none\" stroke=\"#059\" stroke-width=\"2.5\" points=\"" + path +
         "\"/>\n" + label(644, y.at(psi[count - 1]) + 4, "together", "start");
  return "<h2>At which ε</h2>\n" + svg +
         "</svg>\n<p class=quiet>Expected relative fitness: how far "
         "above the best possible the joint model ends, and models of single owners' rows.</p>\n";
}

/// Shades of the whole grid: where together is nearer to the best than the largest owner alone.
std::string map(const Forecast& f) {
  const auto& grid = f.grid;
  double low = grid.psi.front(), high = low;
  for (const double psi : grid.psi) low = std::min(low, psi), high = std::max(high, psi);
  low = std::max(low, high * 1e-12);
  const size_t count = grid.epsilon.size();
  std::string svg =
      "<svg viewBox=\"0 0 720 360\" role=\"img\" "
      "aria-label=\"relative fitness by epsilon and rows\">\n";
  for (size_t r = 0; r < grid.times.size(); ++r)
    for (size_t e = 0; e < count; ++e) {
      const double share = (std::log(std::max(grid.psi[r * count + e], low)) - std::log(low)) /
                           std::max(std::log(high / low), 1e-9);
      svg += fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"14.2\" height=\"7.7\" fill=\"hsl(205,70%,{:.0f}%)\"/>\n",
          70 + 14 * e, 10 + 7.5 * static_cast<double>(grid.times.size() - 1 - r), 22 + 73 * share);
    }
  for (size_t e = 0; e < count; e += 13)
    svg += label(77 + 14 * static_cast<double>(e), 326, significant(grid.epsilon[e]), "middle");
  for (size_t r = 0; r < grid.times.size(); r += 13)
    svg += label(64, 18 + 7.5 * static_cast<double>(grid.times.size() - 1 - r),
                 significant(grid.times[r]) + " x", "end");
  svg += label(350, 346, "ε of every owner", "middle");
  return fmt::format(
      "<h2>What if</h2>\n{}</svg>\n<p class=quiet>Relative fitness by ε (across) and by how many "
      "times the rows of today owners hold (up): from {} % (dark) to {} % (light) above the "
      "best.</p>\n",
      svg, significant(100 * low), significant(100 * high));
}

std::string chosen(const Forecast& f) {
  if (f.chosen.empty()) return "";
  std::string text = "<h2>Chosen, and why</h2>\n<table>\n" + row({"key", "value", "why"}, "th");
  for (const Choice& choice : f.chosen)
    text += fmt::format("<tr><td>{}</td><td>{}</td><td style=\"text-align:left\">{}</td></tr>\n",
                        escaped(choice.key), escaped(choice.value), escaped(choice.why));
  return text + "</table>\n";
}

std::string warnings(const Forecast& f) {
  std::string text;
  for (const Warning& warning : f.warnings)
    text += fmt::format("<p class=warn>{}. {}</p>\n", escaped(warning.text),
                        escaped(warning.what_to_do));
  return text.empty() ? "" : "<h2>Mind</h2>\n" + text;
}

std::string figures(const Forecast& f) {
  const auto percent = [](double psi) { return significant(100 * psi) + " %"; };
  return fmt::format(
      "<h2>The figures</h2>\n<table>\n{}{}{}{}{}{}{}</table>\n"
      "<p class=quiet>Predictor: {} ({}). Read: the charter and {} public rows; no private row. "
      "Charter {}. parley {}.</p>\n",
      row({"", "above the best possible"}, "th"),
      row({"joint model, expected", percent(f.mean)}, "td"),
      row({"half of all runs", percent(f.p25) + " to " + percent(f.p75)}, "td"),
      row({"of it: noise", percent(f.privacy)}, "td"),
      row({"of it: unfinished optimisation", percent(f.optimisation)}, "td"),
      row({"public rows alone", percent(f.pilot_only)}, "td"),
      row({"90 % interval, public rows' own error included",
           percent(f.low) + " to " + percent(f.high)},
          "td"),
      escaped(f.predictor), escaped(f.why), grouped(f.pilot_rows), f.charter_hash, kVersion);
}

}  // namespace

std::string to_html(const Forecast& f) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>{0}: forecast</title>\n<style>{1}</style>\n"
      "<h1>{0}</h1>\n<p class=quiet>Forecast of training together on {2}, before anyone spends "
      "anything</p>\n{3}{4}{5}{6}{7}{8}{9}</html>\n",
      escaped(f.charter_name), kStyle, escaped(f.target_column), answers(f), warnings(f), owners(f),
      curve(f), map(f), chosen(f), figures(f));
}

}  // namespace parley::forecast
