#include "parley/report/forecast/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "parley/base/math/number.h"
#include "parley/report/page/html.h"

namespace parley::report {

double Axis::at(double value) const {
  if (!(value > 0)) return from;
  const double share = std::log(value / low) / std::log(high / low);
  return from + std::clamp(share, 0.0, 1.0) * (to - from);
}

Plot::Plot(Axis x, Axis y, double height, std::string name)
    : x_(x), y_(y), height_(height), name_(std::move(name)) {}

std::string Plot::done() const {
  return svg_.picture({{"viewBox", fmt::format("0 0 720 {:.0f}", height_)},
                       {"role", "img"},
                       {"aria-label", name_}});
}

void Plot::line(const Points& points, std::string_view colour, std::string_view dashes) {
  Polyline drawn;
  for (const auto& [x, y] : points) drawn.emplace_back(x_.at(x), y_.at(y));
  svg_.element("polyline", {{"fill", "none"},
                            {"stroke", std::string(colour)},
                            {"stroke-width", "2"},
                            {"stroke-dasharray", std::string(dashes.empty() ? "none" : dashes)},
                            {"points", pixels(drawn)}});
}

void Plot::dot(double x, double y, std::string_view colour) {
  svg_.element("circle", {{"cx", pixels(x_.at(x))},
                          {"cy", pixels(y_.at(y))},
                          {"r", "4"},
                          {"fill", std::string(colour)}});
}

void Plot::cross(double x, double y, std::string_view colour) {
  svg_.element("path",
               {{"d", fmt::format("M{:.1f} {:.1f}m-6 -6l12 12m0 -12l-12 12", x_.at(x), y_.at(y))},
                {"stroke", std::string(colour)},
                {"stroke-width", "2.5"},
                {"fill", "none"}});
}

void Plot::band(double low, double high, std::string_view colour) {
  svg_.element("rect", {{"x", pixels(x_.from)},
                        {"width", pixels(x_.to - x_.from)},
                        {"y", pixels(y_.at(high))},
                        {"height", pixels(std::max(y_.at(low) - y_.at(high), 2.0))},
                        {"fill", std::string(colour)},
                        {"opacity", ".35"}});
}

void Plot::cells(const Polyline& corners, Size size, int lightness) {
  std::string path;  // A cell is a line as thick as it is high, which takes the fewest bytes.
  for (const auto& [x, y] : corners)
    path += fmt::format("M{:.1f} {:.1f}h{:.1f}", x, y + size.height / 2, size.width);
  svg_.element("path", {{"d", path},
                        {"stroke-width", pixels(size.height)},
                        {"stroke", fmt::format("hsl(205,70%,{}%)", lightness)}});
}

void Plot::text(double x, double y, std::string_view text, std::string_view anchor) {
  svg_.element("text",
               {{"x", pixels(x)},
                {"y", pixels(y)},
                {"text-anchor", std::string(anchor)},
                {"font-size", "12"}},
               escaped(text));
}

void Plot::name_lines(std::vector<std::pair<double, std::string>> names) {
  constexpr double kApart = 14;
  std::sort(names.begin(), names.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<double> places;  // The largest value is at the top.
  for (const auto& [value, name] : names)
    places.push_back(std::max(y_.at(value) + 4, places.empty() ? 0 : places.back() + kApart));
  double lowest = y_.from + 4;  // Below are the ticks.
  for (size_t i = names.size(); i-- > 0; lowest = places[i] - kApart) {
    places[i] = std::min(places[i], lowest);
    text(x_.to + 4, places[i], names[i].second, "start");
  }
}

void Plot::ticks(bool percent_up) {
  for (double tick = y_.low; tick <= y_.high * 1.01; tick *= 10) {
    svg_.element("line", {{"x1", pixels(x_.from)},
                          {"x2", pixels(x_.to)},
                          {"y1", pixels(y_.at(tick))},
                          {"y2", pixels(y_.at(tick))},
                          {"stroke", "#ddd"}});
    text(x_.from - 6, y_.at(tick) + 4,
         significant((percent_up ? 100 : 1) * tick, 6) + (percent_up ? " %" : ""), "end");
  }
  for (double tick = x_.low; tick <= x_.high * 1.01; tick *= 10)
    text(x_.at(tick), y_.from + 18, significant(tick, 6), "middle");
}

void Plot::below(std::string_view words) {
  text((x_.from + x_.to) / 2, height_ - 6, words, "middle");
}

std::pair<double, double> decades(const std::vector<double>& values) {
  double low = 0, high = 0;
  for (const double value : values) {
    if (!(value > 0) || !std::isfinite(value)) continue;
    low = low == 0 ? value : std::min(low, value);
    high = std::max(high, value);
  }
  if (low == 0) return {.1, 10};
  low = std::max(low, high * 1e-12);
  low = std::pow(10, std::floor(std::log10(low) + 1e-9));
  high = std::pow(10, std::ceil(std::log10(high) - 1e-9));
  return {low, std::max(high, low * 10)};
}

}  // namespace parley::report
