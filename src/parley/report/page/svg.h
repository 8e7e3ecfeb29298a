// Writes SVG, element by element, for pages and for files of their own. Nothing but text: no
// dependency, and the same bytes everywhere.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parley::report {

using Polyline = std::vector<std::pair<double, double>>;

/// Coordinates with one decimal: a tenth of a pixel.
std::string pixels(double value);
std::string pixels(const Polyline& points);  // as of `points`: "1.0,2.0 3.0,4.0"

class Svg {
 public:
  /// Values are escaped.
  using Attributes = std::vector<std::pair<std::string_view, std::string>>;

  void element(std::string_view name, const Attributes& attributes);
  /// `content` is SVG: text in it must be escaped.
  void element(std::string_view name, const Attributes& attributes, std::string_view content);

  /// The whole, of these attributes.
  std::string picture(const Attributes& attributes) const;
  const std::string& elements() const { return elements_; }

 private:
  std::string elements_{};
};

}  // namespace parley::report
