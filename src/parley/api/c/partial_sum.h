// Exact sums of clipped gradients, for an owner's own machines.
#pragma once

#include <cstdint>
#include <span>

#include "parley/api/c/call.h"

namespace parley::api {

/// NOT PRIVATE. Sums of parts of the rows add up to that of all, in any order.
Result<void> partial_sum(Call& call, std::span<const double> theta, std::span<int64_t> sum);

}  // namespace parley::api
