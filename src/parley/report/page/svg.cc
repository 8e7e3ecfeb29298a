#include "parley/report/page/svg.h"

#include <fmt/format.h>

#include "parley/report/page/html.h"

namespace parley::report {
namespace {

std::string opened(std::string_view name, const Svg::Attributes& attributes) {
  std::string text = "<" + std::string(name);
  for (const auto& [key, value] : attributes)
    text += fmt::format(" {}=\"{}\"", key, escaped(value));
  return text;
}

}  // namespace

std::string pixels(double value) { return fmt::format("{:.1f}", value); }

std::string pixels(const Polyline& points) {
  std::string text;
  for (const auto& [x, y] : points)
    text += fmt::format("{}{:.1f},{:.1f}", text.empty() ? "" : " ", x, y);
  return text;
}

void Svg::element(std::string_view name, const Attributes& attributes) {
  elements_ += opened(name, attributes) + "/>\n";
}

void Svg::element(std::string_view name, const Attributes& attributes, std::string_view content) {
  elements_ += fmt::format("{}>{}</{}>\n", opened(name, attributes), content, name);
}

std::string Svg::picture(const Attributes& attributes) const {
  return opened("svg", attributes) + ">\n" + elements_ + "</svg>\n";
}

}  // namespace parley::report
