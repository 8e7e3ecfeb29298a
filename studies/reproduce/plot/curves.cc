#include <algorithm>
#include <cmath>
#include <numeric>

#include "studies/reproduce/plot/panel.h"

namespace parley::reproduce {
namespace {

using Kind = Series::Kind;

const char* const kBound = "#b8400f";
const Style kGrid{"#e4e4e4", "", 1, 0}, kFrame{"#444", "", 1, 0}, kLeader{"#999", "", 0.7, 0};

/// Where the axes lie and how numbers are placed between them.
struct Ground {
  Box area;
  Scale x, y;
};

bool has_bars(const Panel& panel) {
  return std::ranges::any_of(panel.series, [](const Series& s) { return s.kind == Kind::kBars; });
}

std::vector<double> all_x(const Panel& panel) {
  std::vector<double> values;
  for (const Series& series : panel.series)
    values.insert(values.end(), series.x.begin(), series.x.end());
  for (size_t i = 0; i < panel.x.names.size(); ++i) values.push_back(double(i));
  if (has_bars(panel) && !values.empty()) {  // Half a bar to either side.
    const auto [least, most] = std::ranges::minmax(values);
    values.push_back(least - 0.5), values.push_back(most + 0.5);
  }
  return values;
}

std::vector<double> all_y(const Panel& panel) {
  std::vector<double> values;
  for (const Series& series : panel.series)
    for (const auto* part : {&series.y, &series.low, &series.high})
      values.insert(values.end(), part->begin(), part->end());
  return values;
}

/// Room on the right for the longest name.
double names_width(const Panel& panel) {
  double width = 0;
  for (const Series& series : panel.series)
    width = std::max(width, text_width(series.name, kTickSize));
  return width > 0 ? width + 16 : 10;
}

double tick_width(const Scale& scale) {
  double width = 0;
  for (const Tick& tick : scale.ticks()) width = std::max(width, text_width(tick.label, kTickSize));
  return width;
}

Ground ground_of(const Panel& panel, const Box& box) {
  const Scale y(panel.y, all_y(panel), 0, 1, has_bars(panel));  // only for the width of its ticks
  const Box area{box.left + tick_width(y) + 30, box.top + 6, box.right - names_width(panel),
                 box.bottom - 42};
  return {area, Scale(panel.x, all_x(panel), area.left, area.right),
          Scale(panel.y, all_y(panel), area.bottom, area.top, has_bars(panel))};
}

void draw_x_axis(Canvas& canvas, const Panel& panel, const Ground& ground) {
  const Box& area = ground.area;
  const double baseline = area.bottom + 16;
  if (!panel.x.names.empty()) {
    for (size_t i = 0; i < panel.x.names.size(); ++i)
      canvas.text(ground.x.at(double(i)), baseline, panel.x.names[i], kTickSize, Anchor::kMiddle);
  } else {
    double free_from = -1e9;
    for (const Tick& tick : ground.x.ticks()) {
      const double at = ground.x.at(tick.value);
      if (!tick.label.empty()) canvas.line(at, area.top, at, area.bottom, kGrid);
      canvas.line(at, area.bottom, at, area.bottom + (tick.label.empty() ? 3 : 5), kFrame);
      const double half = text_width(tick.label, kTickSize) / 2;
      if (tick.label.empty() || at - half < free_from) continue;
      canvas.text(at, baseline, tick.label, kTickSize, Anchor::kMiddle);
      free_from = at + half + 10;
    }
  }
  canvas.text((area.left + area.right) / 2, area.bottom + 35, axis_text(panel.x), kLabelSize,
              Anchor::kMiddle);
}

void draw_y_axis(Canvas& canvas, const Panel& panel, const Ground& ground, const Box& box) {
  const Box& area = ground.area;
  for (const Tick& tick : ground.y.ticks()) {
    const double at = ground.y.at(tick.value);
    if (!tick.label.empty()) canvas.line(area.left, at, area.right, at, kGrid);
    canvas.line(area.left - (tick.label.empty() ? 3 : 5), at, area.left, at, kFrame);
    canvas.text(area.left - 7, at + 4, tick.label, kTickSize, Anchor::kEnd);
  }
  canvas.upright(box.left + 12, (area.top + area.bottom) / 2, axis_text(panel.y), kLabelSize);
}

void draw_band(Canvas& canvas, const Series& series, const Ground& ground, const Style& style) {
  Polyline there, back;
  for (size_t i = 0; i < series.low.size(); ++i) {
    if (!ground.y.has(series.low[i]) || !ground.y.has(series.high[i])) continue;
    there.emplace_back(ground.x.at(series.x[i]), ground.y.at(series.high[i]));
    back.emplace_back(ground.x.at(series.x[i]), ground.y.at(series.low[i]));
  }
  there.insert(there.end(), back.rbegin(), back.rend());
  canvas.area(there, style.colour, 0.16);
}

/// Two standard errors to either side, where they can be seen.
void draw_error(Canvas& canvas, const Series& series, size_t i, const Ground& ground,
                const Style& style) {
  if (series.error.empty() || !(series.error[i] > 0)) return;
  const double low = series.y[i] - 2 * series.error[i], high = series.y[i] + 2 * series.error[i];
  const double from = ground.y.has(low) ? ground.y.at(low) : ground.area.bottom;
  if (from - ground.y.at(high) < 9) return;
  const double x = ground.x.at(series.x[i]);
  canvas.line(x, from, x, ground.y.at(high), {style.colour, "", 1, 0});
}

void draw_bars(Canvas& canvas, const Series& series, const Ground& ground, const Style& style) {
  const double width = 0.7 * ground.area.width() / double(series.x.size() + 1);
  for (size_t i = 0; i < series.x.size(); ++i) {
    const double top = ground.y.at(series.y[i]);
    canvas.rectangle(ground.x.at(series.x[i]) - width / 2, top, width, ground.area.bottom - top,
                     "#b9c9d4", style.colour);
  }
}

void draw_points(Canvas& canvas, const Series& series, const Ground& ground, const Style& style) {
  const double radius = series.x.size() > 300 ? 1.1 : series.x.size() > 60 ? 2.2 : 3;
  for (size_t i = 0; i < series.x.size(); ++i) {
    if (!ground.x.has(series.x[i]) || !ground.y.has(series.y[i])) continue;
    draw_error(canvas, series, i, ground, style);
    canvas.marker(ground.x.at(series.x[i]), ground.y.at(series.y[i]), radius, style);
  }
}

void draw_line(Canvas& canvas, const Series& series, const Ground& ground, const Style& style) {
  Polyline points;
  for (size_t i = 0; i < series.x.size(); ++i)
    if (ground.x.has(series.x[i]) && ground.y.has(series.y[i]))
      points.emplace_back(ground.x.at(series.x[i]), ground.y.at(series.y[i]));
  canvas.polyline(points, style);
}

void draw_series(Canvas& canvas, const Series& series, const Ground& ground, const Style& style) {
  if (series.kind == Kind::kBars) return draw_bars(canvas, series, ground, style);
  if (series.kind == Kind::kMarkers) return draw_points(canvas, series, ground, style);
  if (series.kind == Kind::kLevel) {
    const double at = ground.y.at(series.y.front());
    return canvas.line(ground.area.left, at, ground.area.right, at, style);
  }
  if (!series.low.empty()) draw_band(canvas, series, ground, style);
  draw_line(canvas, series, ground, style);
  if (series.kind == Kind::kLine && series.x.size() <= 60)
    draw_points(canvas, series, ground, {style.colour, "", 1, style.marker});
}

/// The end of a series at which its name can stand: its last point that is drawn.
std::pair<double, double> end_of(const Series& series, const Ground& ground) {
  if (series.kind == Kind::kLevel) return {ground.area.right, ground.y.at(series.y.front())};
  for (size_t i = series.x.size(); i-- > 0;)
    if (ground.x.has(series.x[i]) && ground.y.has(series.y[i]))
      return {ground.x.at(series.x[i]), ground.y.at(series.y[i])};
  return {ground.area.right, ground.area.bottom};
}

void draw_names(Canvas& canvas, const Panel& panel, const Ground& ground) {
  std::vector<size_t> order;
  for (size_t k = 0; k < panel.series.size(); ++k)
    if (!panel.series[k].name.empty()) order.push_back(k);
  const auto height = [&](size_t k) { return end_of(panel.series[k], ground).second; };
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return height(a) < height(b); });
  std::vector<double> wanted;
  for (size_t k : order) wanted.push_back(height(k));
  const std::vector<double> places =
      moved_apart(wanted, kTickSize + 3, ground.area.top + 4, ground.area.bottom - 2);
  for (size_t j = 0; j < order.size(); ++j) {
    const auto [x, y] = end_of(panel.series[order[j]], ground);
    const double at = ground.area.right + 10;
    if (at - x > 22 || std::fabs(places[j] - y) > 3)
      canvas.line(x + 4, y, at - 2, places[j], kLeader);
    canvas.text(at, places[j] + 4, panel.series[order[j]].name, kTickSize, Anchor::kStart,
                panel.series[order[j]].kind == Kind::kTheory ? kBound
                : panel.series[order[j]].sound               ? "#0b5c8a"
                                                             : "#333");
  }
}

/// Bounds are dotted, without markers and of a colour of their own.
std::vector<Style> styles_of(const Panel& panel) {
  std::vector<Style> styles;
  size_t paper = 0, ours = 0;
  for (const Series& series : panel.series) {
    if (series.kind == Kind::kTheory) {
      styles.push_back({kBound, "2 3", 1.5, 0});
      continue;
    }
    styles.push_back(style_of(series.sound ? ours++ : paper++, series.sound));
  }
  return styles;
}

}  // namespace

std::string axis_text(const Axis& axis) {
  std::string text = axis.label;
  if (!axis.unit.empty()) text += ", " + axis.unit;
  return axis.log ? text + " (log)" : text;
}

double draw_title(Canvas& canvas, const std::string& title, const Box& box) {
  double y = box.top;
  if (!title.empty())
    for (const std::string& line : wrapped(title, 1.1 * kTitleSize, box.width() - 10))
      canvas.text(box.left + 4, y += kTitleSize + 3, line, kTitleSize, Anchor::kStart, "#222",
                  true);
  return y + 6;
}

std::vector<double> moved_apart(std::vector<double> wanted, double gap, double low, double high) {
  const size_t n = wanted.size();
  if (n == 0) return wanted;
  gap = std::min(gap, n > 1 ? (high - low) / double(n - 1) : gap);
  wanted[0] = std::max(wanted[0], low);
  for (size_t i = 1; i < n; ++i) wanted[i] = std::max(wanted[i], wanted[i - 1] + gap);
  wanted[n - 1] = std::min(wanted[n - 1], high);
  for (size_t i = n - 1; i-- > 0;) wanted[i] = std::min(wanted[i], wanted[i + 1] - gap);
  return wanted;
}

void draw_curves(Canvas& canvas, const Panel& panel, const Box& box) {
  const Ground ground = ground_of(panel, box);
  draw_x_axis(canvas, panel, ground);
  draw_y_axis(canvas, panel, ground, box);
  canvas.rectangle(ground.area.left, ground.area.top, ground.area.width(), ground.area.height(),
                   "none", "#444");
  const std::vector<Style> styles = styles_of(panel);
  for (const bool bounds : {false, true})  // Bounds last: many lie on what was measured.
    for (size_t k = 0; k < panel.series.size(); ++k)
      if ((panel.series[k].kind == Kind::kTheory) == bounds)
        draw_series(canvas, panel.series[k], ground, styles[k]);
  draw_names(canvas, panel, ground);
}

}  // namespace parley::reproduce
