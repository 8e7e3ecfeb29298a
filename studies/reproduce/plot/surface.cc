#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/reproduce/plot/panel.h"

namespace parley::reproduce {
namespace {

/// From nearly white to dark blue, lightness falling evenly, so that it is a grey scale in grey.
std::string shade(double t) {
  constexpr double kLight[] = {247, 250, 252}, kDark[] = {8, 48, 92};
  int rgb[3];
  for (int c = 0; c < 3; ++c)
    rgb[c] = static_cast<int>(kLight[c] + (kDark[c] - kLight[c]) * std::pow(t, 0.9));
  return fmt::format("#{:02x}{:02x}{:02x}", rgb[0], rgb[1], rgb[2]);
}

double shade_of(double value, const Shades& shades) {
  const auto inner = [&](double x) { return shades.log ? std::log(x) : x; };
  if (!std::isfinite(value) || (shades.log && value <= 0) || shades.high <= shades.low) return 0;
  return std::clamp((inner(value) - inner(shades.low)) / (inner(shades.high) - inner(shades.low)),
                    0., 1.);
}

/// Short enough for a cell: 12.3, 0.0117, 1.3e4.
std::string in_cell(double value) {
  if (!std::isfinite(value)) return "–";
  if (value != 0 && (std::fabs(value) >= 999.5 || std::fabs(value) < 0.001)) {
    std::string text = fmt::format("{:.1e}", value);
    const size_t e = text.find('e');
    const int exponent = std::stoi(text.substr(e + 1));
    return text.substr(0, e) + "e" + std::to_string(exponent);
  }
  return std::fabs(value) >= 10 ? fmt::format("{:.0f}", value) : fmt::format("{:.2g}", value);
}

struct Cells {
  double left, bottom, width, height;
  double x(size_t j) const { return left + width * double(j); }
  double y(size_t i) const { return bottom - height * double(i + 1); }
};

void draw_cell(Canvas& canvas, const Surface& surface, size_t i, size_t j, const Cells& cells,
               const Shades& shades) {
  const double value = surface.value[i * surface.x.size() + j], t = shade_of(value, shades);
  canvas.rectangle(cells.x(j), cells.y(i), cells.width, cells.height, shade(t), "#fff");
  const double size = std::clamp(cells.width / 4.2, 7.5, 12.);
  canvas.text(cells.x(j) + cells.width / 2, cells.y(i) + cells.height / 2 + 0.36 * size,
              in_cell(value), size, Anchor::kMiddle, t > 0.6 ? "#fff" : "#111");
}

void draw_marks(Canvas& canvas, const Surface& surface, const Cells& cells) {
  for (size_t i = 0; i < surface.y.size(); ++i)
    for (size_t j = 0; j < surface.x.size(); ++j)
      if (!surface.marked.empty() && surface.marked[i * surface.x.size() + j])
        canvas.rectangle(cells.x(j) + 1.5, cells.y(i) + 1.5, cells.width - 3, cells.height - 3,
                         "none", "#d9480f", 2.6);
}

}  // namespace

void draw_surface(Canvas& canvas, const Panel& panel, const Box& box, const Shades& shades) {
  const Surface& surface = *panel.surface;
  check(surface.value.size() == surface.x.size() * surface.y.size());
  double ticks = 0;
  for (double y : surface.y) ticks = std::max(ticks, text_width(plain(y), kTickSize));
  const bool legend = !surface.mark_means.empty();
  const Box area{box.left + ticks + 32, box.top + 20, box.right - 10,
                 box.bottom - (legend ? 58 : 42)};
  const Cells cells{area.left, area.bottom, area.width() / double(surface.x.size()),
                    area.height() / double(surface.y.size())};
  canvas.text(area.left, box.top + 12, "in the cells: " + surface.z.label, kTickSize);
  for (size_t i = 0; i < surface.y.size(); ++i) {
    canvas.text(area.left - 6, cells.y(i) + cells.height / 2 + 4, plain(surface.y[i]), kTickSize,
                Anchor::kEnd);
    for (size_t j = 0; j < surface.x.size(); ++j) draw_cell(canvas, surface, i, j, cells, shades);
  }
  draw_marks(canvas, surface, cells);
  for (size_t j = 0; j < surface.x.size(); ++j)
    canvas.text(cells.x(j) + cells.width / 2, area.bottom + 15, plain(surface.x[j]),
                std::min(kTickSize, cells.width / 3.4), Anchor::kMiddle);
  Axis x = panel.x, y = panel.y;
  x.log = y.log = false;  // Every grid value is named; the cells are a table.
  canvas.text((area.left + area.right) / 2, area.bottom + 34, axis_text(x), kLabelSize,
              Anchor::kMiddle);
  canvas.upright(box.left + 12, (area.top + area.bottom) / 2, axis_text(y), kLabelSize);
  if (!legend) return;
  canvas.rectangle(area.left, area.bottom + 42, 14, 11, "none", "#d9480f", 2.6);
  canvas.text(area.left + 20, area.bottom + 52, surface.mark_means, kTickSize);
}

}  // namespace parley::reproduce
