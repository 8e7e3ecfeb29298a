// Pictures for the report, as SVG: logarithmic in both directions, readable in print.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/report/page/svg.h"

namespace parley::report {

/// One after the other for lines of one picture, which can be told apart in print as well.
inline constexpr std::array kLineColours = {"#059", "#c60", "#283", "#a2a", "#555", "#b11"};
inline constexpr std::array kLineDashes = {"", "7 3", "2 3", "9 3 2 3", "4 2", "12 4"};

/// Values beyond the ends are moved to the nearest one.
struct Axis {
  double low = 0, high = 1, from = 0, to = 1;
  double at(double value) const;
};

/// 720 wide; the field leaves room for labels of the axes at the left and below, of lines at the
/// right.
class Plot {
 public:
  Plot(Axis x, Axis y, double height, std::string name);

  using Points = Polyline;
  void line(const Points& points, std::string_view colour, std::string_view dashes = "");
  void dot(double x, double y, std::string_view colour);
  void cross(double x, double y, std::string_view colour);
  /// A band over the whole width.
  void band(double low, double high, std::string_view colour);
  struct Size {
    double width, height;
  };
  /// All cells of one shade in one element, by their upper left corners: a map has more than a
  /// thousand.
  void cells(const Polyline& corners, Size size, int lightness);
  void text(double x, double y, std::string_view text, std::string_view anchor);
  /// Names of lines at the right end, moved apart where they would lie on each other.
  void name_lines(std::vector<std::pair<double, std::string>> names);
  /// Powers of ten along both axes.
  void ticks(bool percent_up);
  void below(std::string_view text);

  const Axis& x() const { return x_; }
  const Axis& y() const { return y_; }
  std::string done() const;

 private:
  Axis x_, y_;
  double height_;
  std::string name_;
  Svg svg_{};
};

/// From a power of ten to a power of ten around the values above 0.
std::pair<double, double> decades(const std::vector<double>& values);

}  // namespace parley::report
