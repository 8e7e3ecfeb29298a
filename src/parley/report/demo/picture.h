// The demo in one picture: what owners have on average in the four ways, and what each of them
// gains. Stands alone as a file and in a page, in light and dark.
#pragma once

#include <string>

#include "parley/report/demo/demo.h"

namespace parley::report {

/// SVG. Empty if no owner has figures.
std::string picture_of(const Demo& demo);

}  // namespace parley::report
