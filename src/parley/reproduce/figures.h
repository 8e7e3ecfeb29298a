// The figures: each computes one, and registry.cc lists them. Names are the papers' numbers.
#pragma once

#include "parley/reproduce/figure.h"

namespace parley::reproduce {

// Farokhi et al., asynchronous.
Result<Figure> async_timing_lending(const Study& study);   // A-F3
Result<Figure> async_timing_hospital(const Study& study);  // A-F9

}  // namespace parley::reproduce
