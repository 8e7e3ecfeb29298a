// The search behind choose.h.
#pragma once

#include <vector>

#include "parley/forecast/choose/choose.h"

namespace parley::forecast {

/// A few complete charters that look best near the optimum, at most one of each rule and clip.
Result<std::vector<Candidate>> shortlist(const charter::Charter& draft,
                                         const PilotStatistics& statistics, const Given& given);

}  // namespace parley::forecast
