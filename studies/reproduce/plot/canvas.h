// What figures are drawn with: lines, areas, markers and texts in a few styles.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/report/page/svg.h"

namespace parley::reproduce {

using report::Polyline;

/// How a line, a marker or an area looks. Told apart by lightness, dash and marker, so that a
/// print in grey says the same.
struct Style {
  std::string colour = "#222";
  std::string dash{};  // as of stroke-dasharray; empty: solid
  double width = 1.6;
  int marker = 0;  // circle, square, triangle, diamond, cross, ring
};
/// The k-th of those that can be told apart; the paper's in dark, ours in the second shade.
Style style_of(size_t k, bool sound);

enum class Anchor { kStart, kMiddle, kEnd };

class Canvas {
 public:
  /// White; the title is for who cannot see it.
  explicit Canvas(std::string_view title);

  void line(double x1, double y1, double x2, double y2, const Style& style);
  void polyline(const Polyline& points, const Style& style);
  void area(const Polyline& points, const std::string& colour, double opacity);
  void rectangle(double x, double y, double width, double height, const std::string& fill,
                 const std::string& stroke = "none", double stroke_width = 1);
  void marker(double x, double y, double radius, const Style& style);
  void text(double x, double y, std::string_view text, double size, Anchor anchor = Anchor::kStart,
            const std::string& colour = "#222", bool bold = false);
  void upright(double x, double y, std::string_view text, double size);  // reads from below
  const report::Svg& svg() const { return svg_; }

 private:
  report::Svg svg_{};
};

/// A guess at the width of a text in this size, a little too large.
double text_width(std::string_view text, double size);
/// Words in lines no wider than that.
std::vector<std::string> wrapped(std::string_view text, double size, double width);

}  // namespace parley::reproduce
