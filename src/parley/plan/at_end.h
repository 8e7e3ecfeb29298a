// What a finished job must have received from every owner.
#pragma once

#include <cstdint>

#include "parley/charter/charter.h"

namespace parley::plan {

struct AtEnd {
  uint32_t answers = 0;    // at least
  bool evaluated = false;  // and its evaluation
};

/// Nothing where a job may go on without some owners; one answer where an alarm after the first
/// ones may end it.
AtEnd at_end(const charter::Charter& charter);

}  // namespace parley::plan
