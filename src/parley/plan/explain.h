// A charter in sentences, for the people who decide.
#pragma once

#include <string>

#include "parley/charter/charter.h"

namespace parley::plan {

/// Who, what, what leaves each owner at which price, what is public and what is not covered.
std::string explain(const charter::Charter& charter);

}  // namespace parley::plan
