// What `parley simulate` runs for calibration "paper".
#pragma once

#include "parley/sim/literal.h"

namespace parley::paper {

const sim::Literal& literal();

}  // namespace parley::paper
