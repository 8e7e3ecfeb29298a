#include "studies/reproduce/plot/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/reproduce/plot/panel.h"

namespace parley::reproduce {
namespace {

constexpr double kWidth = 860, kGap = 22;

struct Layout {
  size_t columns;
  double width, height;  // of a panel
};

Layout layout_of(const Figure& figure) {
  const size_t columns = figure.panels.size() == 1 ? 1 : 2;
  const double width = (kWidth - kGap * double(columns - 1)) / double(columns);
  size_t rows = 0;
  for (const Panel& panel : figure.panels)
    if (panel.surface) rows = std::max(rows, panel.surface->y.size());
  const double height = columns == 1 ? 420 : 330;
  return {columns, width, std::max(height, double(rows) * 26 + 120)};
}

/// One scale for all maps, if what they show is the same.
Shades shades_of(const Figure& figure) {
  Shades shades{HUGE_VAL, -HUGE_VAL, false};
  for (const Panel& panel : figure.panels) {
    if (!panel.surface) continue;
    shades.log = panel.surface->z.log;
    for (double value : panel.surface->value) {
      if (!std::isfinite(value) || (shades.log && value <= 0)) continue;
      shades.low = std::min(shades.low, value), shades.high = std::max(shades.high, value);
    }
  }
  return shades;
}

}  // namespace

std::string svg_of(const Figure& figure) {
  if (figure.panels.empty()) return "";
  const Layout layout = layout_of(figure);
  const Shades shades = shades_of(figure);
  Canvas canvas(figure.id + " " + figure.title);
  for (size_t k = 0; k < figure.panels.size(); ++k) {
    const double left = double(k % layout.columns) * (layout.width + kGap);
    const double top = double(k / layout.columns) * (layout.height + kGap);
    Box box{left, top, left + layout.width, top + layout.height};
    const Panel& panel = figure.panels[k];
    box.top = draw_title(canvas, panel.title, box);
    if (panel.surface)
      draw_surface(canvas, panel, box, shades);
    else
      draw_curves(canvas, panel, box);
  }
  const size_t rows = (figure.panels.size() + layout.columns - 1) / layout.columns;
  const double height = double(rows) * (layout.height + kGap) - kGap + 6;
  return canvas.svg().picture({{"xmlns", "http://www.w3.org/2000/svg"},
                               {"viewBox", fmt::format("0 0 {:g} {:g}", kWidth, height)},
                               {"width", fmt::format("{:g}", kWidth)},
                               {"height", fmt::format("{:g}", height)},
                               {"role", "img"},
                               {"font-family", "Helvetica, Arial, 'DejaVu Sans', sans-serif"}});
}

}  // namespace parley::reproduce
