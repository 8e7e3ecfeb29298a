// Draws one panel: curves with their names beside them, or a surface as a map with its numbers in
// it.
#pragma once

#include <utility>

#include "studies/reproduce/figure.h"
#include "studies/reproduce/plot/canvas.h"
#include "studies/reproduce/plot/scale.h"

namespace parley::reproduce {

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

inline constexpr double kTickSize = 11, kLabelSize = 12, kTitleSize = 13;

/// "privacy budget ε (log scale)", "iteration k, rounds".
std::string axis_text(const Axis& axis);

void draw_curves(Canvas& canvas, const Panel& panel, const Box& box);

/// `range` of z is that of all maps of the figure, so that equal shades mean equal numbers.
struct Shades {
  double low = 0, high = 0;
  bool log = false;
};
void draw_surface(Canvas& canvas, const Panel& panel, const Box& box, const Shades& shades);

/// The title in the box, in as many lines as it needs; returns where the rest may begin.
double draw_title(Canvas& canvas, const std::string& title, const Box& box);

/// Names that stand beside each other's places, moved apart until none covers another.
std::vector<double> moved_apart(std::vector<double> wanted, double gap, double low, double high);

}  // namespace parley::reproduce
