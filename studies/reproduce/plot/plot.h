// A figure as an SVG drawing that can stand alone: panels side by side, names beside their curves.
#pragma once

#include <string>

#include "studies/reproduce/figure.h"

namespace parley::reproduce {

/// Empty for a claim without panels.
std::string svg_of(const Figure& figure);

}  // namespace parley::reproduce
