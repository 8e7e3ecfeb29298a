#include "studies/reproduce/plot/canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace parley::reproduce {
namespace {

constexpr std::string_view kDashes[] = {"", "7 3", "2 3", "9 3 2 3", "5 2 1 2 1 2"};

/// One decimal is a tenth of a pixel.
std::string coordinates(const Polyline& points) {
  std::string text;
  for (const auto& [x, y] : points)
    text += fmt::format("{}{:.1f},{:.1f}", text.empty() ? "" : " ", x, y);
  return text;
}

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

std::string stroke_of(const Style& style) {
  std::string text = fmt::format(R"(stroke="{}" stroke-width="{:g}")", style.colour, style.width);
  if (!style.dash.empty()) text += fmt::format(R"( stroke-dasharray="{}")", style.dash);
  return text;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (char c : text) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += c;
  }
  return safe;
}

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

void Canvas::line(double x1, double y1, double x2, double y2, const Style& style) {
  elements_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n",
                           x1, y1, x2, y2, stroke_of(style));
}

void Canvas::polyline(const Polyline& points, const Style& style) {
  if (points.size() < 2) return;
  elements_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke-linejoin=\"round\" {}/>\n",
                           coordinates(points), stroke_of(style));
}

void Canvas::area(const Polyline& points, const std::string& colour, double opacity) {
  if (points.size() < 3) return;
  elements_ += fmt::format("<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"{:g}\"/>\n",
                           coordinates(points), colour, opacity);
}

void Canvas::rectangle(double x, double y, double width, double height, const std::string& fill,
                       const std::string& stroke, double stroke_width) {
  elements_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" "
      "stroke=\"{}\" "
      "stroke-width=\"{:g}\"/>\n",
      x, y, width, height, fill, stroke, stroke_width);
}

void Canvas::marker(double x, double y, double r, const Style& style) {
  const auto shape = [&](const Polyline& points, const std::string& fill) {
    elements_ += fmt::format("<polygon points=\"{}\" fill=\"{}\" stroke=\"{}\"/>\n",
                             coordinates(points), fill, style.colour);
  };
  const std::string& colour = style.colour;
  switch (style.marker % 6) {
    case 1:
      shape({{x - r, y - r}, {x + r, y - r}, {x + r, y + r}, {x - r, y + r}}, colour);
      break;
    case 2:
      shape({{x, y - 1.2 * r}, {x + 1.1 * r, y + r}, {x - 1.1 * r, y + r}}, "#fff");
      break;
    case 3:
      shape({{x, y - 1.3 * r}, {x + 1.3 * r, y}, {x, y + 1.3 * r}, {x - 1.3 * r, y}}, colour);
      break;
    case 4:
      shape({{x - r, y - r}, {x + r, y - r}, {x + r, y + r}, {x - r, y + r}}, "#fff");
      break;
    default:
      elements_ += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\" stroke=\"{}\"/>\n", x, y, r,
          style.marker % 6 == 5 ? "#fff" : colour, colour);
  }
}

void Canvas::text(double x, double y, std::string_view text, double size, Anchor anchor,
                  const std::string& colour, bool bold) {
  constexpr const char* kAnchors[] = {"start", "middle", "end"};
  elements_ += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:g}\" text-anchor=\"{}\" "
      "fill=\"{}\"{}>{}</text>\n",
      x, y, size, kAnchors[static_cast<int>(anchor)], colour, bold ? " font-weight=\"bold\"" : "",
      lowered(text, size));
}

void Canvas::upright(double x, double y, std::string_view text, double size) {
  elements_ += fmt::format(
      "<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" font-size=\"{:g}\" "
      "text-anchor=\"middle\" fill=\"#222\">{}</text>\n",
      x, y, size, lowered(text, size));
}

}  // namespace parley::reproduce
