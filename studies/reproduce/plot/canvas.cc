#include "studies/reproduce/plot/canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "parley/report/page/html.h"

namespace parley::reproduce {
namespace {

using report::escaped, report::pixels;

constexpr std::string_view kDashes[] = {"", "7 3", "2 3", "9 3 2 3", "5 2 1 2 1 2"};

/// Escaped, with what follows a '_' lowered: n_i, θ_L,T. Shifted by hand, because not every viewer
/// knows baseline-shift.
std::string lowered(std::string_view text, double size) {
  std::string result;
  while (true) {
    const size_t at = text.find('_');
    result += escaped(text.substr(0, at));
    if (at == text.npos) return result;
    text.remove_prefix(at + 1);
    size_t end = 0;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) ||
            (text[end] == ',' && end + 1 < text.size() && text[end + 1] != ' ')))
      ++end;
    result += fmt::format(
        "<tspan dy=\"{0:.1f}\" font-size=\"{1:.1f}\">{2}</tspan><tspan "
        "dy=\"-{0:.1f}\">&#8203;</tspan>",
        0.25 * size, 0.75 * size, escaped(text.substr(0, end)));
    text.remove_prefix(end);
  }
}

/// The attributes, and those of the stroke.
report::Svg::Attributes stroked(report::Svg::Attributes attributes, const Style& style) {
  attributes.emplace_back("stroke", style.colour);
  attributes.emplace_back("stroke-width", fmt::format("{:g}", style.width));
  if (!style.dash.empty()) attributes.emplace_back("stroke-dasharray", style.dash);
  return attributes;
}

}  // namespace

double text_width(std::string_view text, double size) {
  double width = 0;
  for (char c : text) {
    if ((c & 0xC0) == 0x80) continue;  // inside a character
    width += c == ' ' || c == '.' || c == ',' || c == 'i' || c == 'l' ? 0.32
             : c == 'm' || c == 'w'                                   ? 0.85
                                                                      : 0.58;
  }
  return width * size;
}

std::vector<std::string> wrapped(std::string_view text, double size, double width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string word(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    std::string& line = lines.back();
    if (line.empty())
      line = word;
    else if (text_width(line + " " + word, size) <= width)
      line += " " + word;
    else
      lines.push_back(word);
  }
  return lines;
}

Style style_of(size_t k, bool sound) {
  constexpr std::string_view kPaper[] = {"#1a1a1a", "#6b6b6b", "#3f3f3f", "#8c8c8c", "#555555"};
  constexpr std::string_view kOurs[] = {"#0b5c8a", "#4d9dc9", "#0d3b66", "#7fb7d6", "#2f7fae"};
  const auto& colours = sound ? kOurs : kPaper;
  return {std::string(colours[k % std::size(colours)]),
          std::string(kDashes[k % std::size(kDashes)]), sound ? 2.0 : 1.6,
          static_cast<int>(k % 5) + (sound ? 1 : 0)};
}

Canvas::Canvas(std::string_view title) {
  svg_.element("title", {}, escaped(title));
  svg_.element("rect", {{"width", "100%"}, {"height", "100%"}, {"fill", "#fff"}});
}

void Canvas::line(double x1, double y1, double x2, double y2, const Style& style) {
  svg_.element(
      "line",
      stroked({{"x1", pixels(x1)}, {"y1", pixels(y1)}, {"x2", pixels(x2)}, {"y2", pixels(y2)}},
              style));
}

void Canvas::polyline(const Polyline& points, const Style& style) {
  if (points.size() < 2) return;
  svg_.element(
      "polyline",
      stroked({{"points", pixels(points)}, {"fill", "none"}, {"stroke-linejoin", "round"}}, style));
}

void Canvas::area(const Polyline& points, const std::string& colour, double opacity) {
  if (points.size() < 3) return;
  svg_.element("polygon", {{"points", pixels(points)},
                           {"fill", colour},
                           {"fill-opacity", fmt::format("{:g}", opacity)}});
}

void Canvas::rectangle(double x, double y, double width, double height, const std::string& fill,
                       const std::string& stroke, double stroke_width) {
  svg_.element("rect", {{"x", pixels(x)},
                        {"y", pixels(y)},
                        {"width", pixels(width)},
                        {"height", pixels(height)},
                        {"fill", fill},
                        {"stroke", stroke},
                        {"stroke-width", fmt::format("{:g}", stroke_width)}});
}

void Canvas::marker(double x, double y, double r, const Style& style) {
  const std::string& colour = style.colour;
  const auto shape = [&](const Polyline& points, const std::string& fill) {
    svg_.element("polygon", {{"points", pixels(points)}, {"fill", fill}, {"stroke", colour}});
  };
  switch (style.marker % 6) {
    case 1:
      return shape({{x - r, y - r}, {x + r, y - r}, {x + r, y + r}, {x - r, y + r}}, colour);
    case 2:
      return shape({{x, y - 1.2 * r}, {x + 1.1 * r, y + r}, {x - 1.1 * r, y + r}}, "#fff");
    case 3:
      return shape({{x, y - 1.3 * r}, {x + 1.3 * r, y}, {x, y + 1.3 * r}, {x - 1.3 * r, y}},
                   colour);
    case 4:
      return shape({{x - r, y - r}, {x + r, y - r}, {x + r, y + r}, {x - r, y + r}}, "#fff");
    default:
      svg_.element("circle", {{"cx", pixels(x)},
                              {"cy", pixels(y)},
                              {"r", pixels(r)},
                              {"fill", style.marker % 6 == 5 ? "#fff" : colour},
                              {"stroke", colour}});
  }
}

void Canvas::text(double x, double y, std::string_view text, double size, Anchor anchor,
                  const std::string& colour, bool bold) {
  constexpr const char* kAnchors[] = {"start", "middle", "end"};
  report::Svg::Attributes attributes = {{"x", pixels(x)},
                                        {"y", pixels(y)},
                                        {"font-size", fmt::format("{:g}", size)},
                                        {"text-anchor", kAnchors[static_cast<int>(anchor)]},
                                        {"fill", colour}};
  if (bold) attributes.emplace_back("font-weight", "bold");
  svg_.element("text", attributes, lowered(text, size));
}

void Canvas::upright(double x, double y, std::string_view text, double size) {
  svg_.element("text",
               {{"transform", fmt::format("translate({:.1f} {:.1f}) rotate(-90)", x, y)},
                {"font-size", fmt::format("{:g}", size)},
                {"text-anchor", "middle"},
                {"fill", "#222"}},
               lowered(text, size));
}

}  // namespace parley::reproduce
