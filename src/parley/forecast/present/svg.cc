#include "parley/forecast/present/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "parley/report/table.h"

namespace parley::forecast {

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

double Axis::at(double value) const {
  if (!(value > 0)) return from;
  const double share = std::log(value / low) / std::log(high / low);
  return from + std::clamp(share, 0.0, 1.0) * (to - from);
}

Plot::Plot(Axis x, Axis y, double height, std::string name)
    : x_(x),
      y_(y),
      height_(height),
      svg_(fmt::format("<svg viewBox=\"0 0 720 {:.0f}\" role=\"img\" aria-label=\"{}\">\n", height,
                       escaped(name))) {}

void Plot::line(const Points& points, std::string_view colour, std::string_view dashes) {
  std::string path;
  for (const auto& [x, y] : points)
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", x_.at(x), y_.at(y));
  svg_ += fmt::format(
      "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\" "
      "points=\"{}\"/>\n",
      colour, dashes.empty() ? "none" : dashes, path);
}

void Plot::dot(double x, double y, std::string_view colour) {
  svg_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>\n", x_.at(x),
                      y_.at(y), colour);
}

void Plot::cross(double x, double y, std::string_view colour) {
  svg_ += fmt::format(
      "<path d=\"M{0:.1f} {1:.1f}m-6 -6l12 12m0 -12l-12 12\" stroke=\"{2}\" stroke-width=\"2.5\" "
      "fill=\"none\"/>\n",
      x_.at(x), y_.at(y), colour);
}

void Plot::band(double low, double high, std::string_view colour) {
  svg_ += fmt::format(
      "<rect x=\"{:.1f}\" width=\"{:.1f}\" y=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" "
      "opacity=\".35\"/>\n",
      x_.from, x_.to - x_.from, y_.at(high), std::max(y_.at(low) - y_.at(high), 2.0), colour);
}

void Plot::cell(double x, double y, double width, double height, int lightness) {
  svg_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
      "fill=\"hsl(205,70%,{}%)\"/>\n",
      x, y, width, height, lightness);
}

void Plot::text(double x, double y, std::string_view text, std::string_view anchor) {
  svg_ +=
      fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"12\">{}</text>\n",
                  x, y, anchor, escaped(text));
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
    svg_ += fmt::format(
        "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n",
        x_.from, x_.to, y_.at(tick), y_.at(tick));
    text(x_.from - 6, y_.at(tick) + 4,
         report::significant((percent_up ? 100 : 1) * tick, 6) + (percent_up ? " %" : ""), "end");
  }
  for (double tick = x_.low; tick <= x_.high * 1.01; tick *= 10)
    text(x_.at(tick), y_.from + 18, report::significant(tick, 6), "middle");
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

}  // namespace parley::forecast
