// Exact sums of clipped gradients over a part of an owner's rows. An owner whose rows lie on
// several machines adds these sums up; they stay with the owner.
#pragma once

#include <cstdint>
#include <span>

#include "parley/api/c/call.h"

namespace parley::api {

/// NOT PRIVATE. Sums of parts of the rows add up to that of all, in any order.
Result<void> partial_sum(Call& call, std::span<const double> theta, std::span<int64_t> sum);

}  // namespace parley::api
