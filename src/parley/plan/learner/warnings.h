// What a learner should say about a plan before anyone pays: it may run, but will hardly be worth
// it. From public numbers only.
#pragma once

#include <string>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/data/rows.h"

namespace parley::plan {

/// Each a sentence or two, with what to do. `pilot` is as for make_learner.
Result<std::vector<std::string>> plan_warnings(const charter::Charter& charter,
                                               const data::Rows* pilot);

}  // namespace parley::plan
