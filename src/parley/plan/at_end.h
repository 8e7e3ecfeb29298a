// What a job that has come to its end has had of every owner.
#pragma once

#include <cstdint>

#include "parley/charter/charter.h"

namespace parley::plan {

struct AtEnd {
  uint32_t answers = 0;    // at least
  bool evaluated = false;  // and its evaluation
};

/// Nothing where a job may do without some owners; one answer where an alarm of the first ones may
/// end it.
AtEnd at_end(const charter::Charter& charter);

}  // namespace parley::plan
