// The demo as one picture: the owners' mean metric in the four ways, and each owner's gain. It
// works as a file and inside a page, in light and dark.
#pragma once

#include <string>

#include "parley/report/demo/demo.h"

namespace parley::report {

/// SVG. Empty if no owner has figures.
std::string picture_of(const Demo& demo);

}  // namespace parley::report
