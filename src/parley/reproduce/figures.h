// The figures: each computes one, and registry.cc lists them. Names are the papers' numbers.
#pragma once

#include "parley/reproduce/figure.h"

namespace parley::reproduce {

// Farokhi et al., asynchronous.
Result<Figure> async_lending_rounds(const Study& study);   // A-F2
Result<Figure> async_timing_lending(const Study& study);   // A-F3
Result<Figure> async_lending_surface(const Study& study);  // A-F4
Result<Figure> async_lending_slopes(const Study& study);   // A-F5
Result<Figure> async_coalition(const Study& study);        // A-F6
Result<Figure> async_hospital_gain(const Study& study);    // A-F7
Result<Figure> async_hospital_rounds(const Study& study);  // A-F8
Result<Figure> async_timing_hospital(const Study& study);  // A-F9
Result<Figure> async_hospital_slope(const Study& study);   // A-F10
Result<Figure> async_abstract(const Study& study);         // A-abs

}  // namespace parley::reproduce
