#include "parley/report/console/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "parley/base/math/number.h"
#include "parley/report/page/html.h"
#include "parley/report/page/svg.h"
#include "parley/report/page/web.h"

namespace parley::report {
namespace {

/// One track of a budget.
struct Gauge {
  std::string unit;
  double spent, reserved, most;
};

/// What charters that have begun will still ask on this track of this data set.
double reserved(const Console& console, const std::string& dataset, Track track) {
  double sum = 0;
  for (const ConsoleCharter& each : console.charters)
    if (each.under_way() && each.preflight.dataset == dataset && each.preflight.track == track)
      sum += each.preflight.left - each.preflight.left_after;
  return sum;
}

std::string bar(const Gauge& gauge) {
  const auto share = [&](double part) { return std::clamp(100 * part / gauge.most, 0., 100.); };
  const double spent = share(gauge.spent), both = share(gauge.spent + gauge.reserved);
  const auto piece = [](Svg& svg, double from, double to, const char* part) {
    svg.element("rect", {{"x", pixels(from)},
                         {"y", "0"},
                         {"width", pixels(to - from)},
                         {"height", "10"},
                         {"class", part}});
  };
  Svg svg;
  piece(svg, both, 100, "left");
  piece(svg, 0, spent, "spent");
  piece(svg, spent, both, "reserved");
  std::string stripes;  // so that it is told from what is spent without colours
  for (double x = spent + 0.5; x < both; x += 1) stripes += "M" + pixels(x) + " 0V10";
  if (!stripes.empty()) svg.element("path", {{"d", stripes}, {"class", "stripes"}});
  return svg.picture(
      {{"viewBox", "0 0 100 10"},
       {"preserveAspectRatio", "none"},
       {"class", "gauge"},
       {"role", "img"},
       {"aria-label", fmt::format("{:.0f} % spent, {:.0f} % reserved", spent, both - spent)}});
}

std::string gauge_row(const Gauge& gauge) {
  if (!(gauge.most > 0)) return "";
  const auto amount = [&](double value) { return significant(value, 4) + " " + gauge.unit; };
  const double left = std::max(0., gauge.most - gauge.spent - gauge.reserved);
  return bar(gauge) + "<table class=names>" +
         html_row({"for its lifetime", "spent", "reserved by jobs under way", "left"}, "th") +
         html_row({amount(gauge.most), amount(gauge.spent), amount(gauge.reserved), amount(left)},
                  "td") +
         "</table>\n";
}

std::string budget(const Console& console, const ledger::Dataset& data) {
  const privacy::Budget& most = data.budget;
  const std::string unit =
      data.unit.empty() || data.unit == "record" ? "one record" : "all records of one " + data.unit;
  return fmt::format(
             "<section class=card><h3>{}</h3>\n<p>The promise protects {}: ε = {}{}. {}</p>\n",
             escaped(data.name), escaped(unit), significant(most.epsilon, 4),
             most.delta > 0 ? ", δ = " + significant(most.delta) : "",
             escaped(in_words(most.epsilon, most.delta))) +
         gauge_row(
             {"ε", data.spent.pure, reserved(console, data.name, Track::kPure), most.pure_max}) +
         gauge_row(
             {"ρ", data.spent.rho, reserved(console, data.name, Track::kZcdp), most.rho_max}) +
         "</section>\n";
}

}  // namespace

std::string in_words(double epsilon, double delta) {
  const double odds = std::exp(std::min(epsilon, 50.));
  const double percent = 100 * odds / (1 + odds);
  // Rounded up: never less than the promise allows.
  const double shown = percent > 99 ? std::ceil(percent * 100) / 100 : std::ceil(percent * 10) / 10;
  const std::string most = shown >= 100 ? "certainty" : "at most " + significant(shown, 4) + " %";
  return fmt::format("In words: a suspicion of 50 % about what one record holds becomes {}{}.",
                     most, delta > 0 ? ", except with probability " + significant(delta) : "");
}

std::string console_frame(const Console& console, std::string_view title, std::string_view body) {
  const std::string top = fmt::format(
      "<nav aria-label=pages><p class=act><a href=\"/\">Overview</a> <a href=\"/left\">What has "
      "left</a> <a href=\"/policy\">The policy</a> <span class=quiet>{}, as {}</span></p></nav>\n",
      escaped(console.owner), escaped(console.person));
  return web_page(fmt::format("{}: {}", console.owner, title), console.token,
                  top + std::string(body));
}

std::string budgets(const Console& console) {
  std::string text = "<h2>Data sets and their budgets</h2>\n";
  for (const ledger::Dataset& data : console.datasets) text += budget(console, data);
  return text;
}

std::string bytes_text(uint64_t bytes) {
  const auto count = static_cast<double>(bytes);
  if (count < 1e3) return fmt::format("{} bytes", bytes);
  if (count < 1e6) return fmt::format("{:.1f} kB", count / 1e3);
  return fmt::format("{:.1f} {}", count / (count < 1e9 ? 1e6 : 1e9), count < 1e9 ? "MB" : "GB");
}

std::string duration_text(double seconds) {
  const auto all = static_cast<uint64_t>(std::ceil(std::min(seconds, 1e9)));
  if (all < 60) return fmt::format("{} s", all);
  if (all < 3600) return fmt::format("{} min {} s", all / 60, all % 60);
  return fmt::format("{} h {} min", all / 3600, all % 3600 / 60);
}

std::string link_to(const ConsoleCharter& charter) {
  return fmt::format("<a href=\"/charter?id={}\">{}</a>", charter.id,
                     escaped(charter.preflight.name));
}

}  // namespace parley::report
