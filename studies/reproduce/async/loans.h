// What the figures of three banks share: Algorithm 1 on lending records, profile P-lend-async.
#pragma once

#include "studies/reproduce/async/job.h"

namespace parley::reproduce::async {

inline constexpr uint64_t kBanks = 3;
/// Noise is scaled so that c̄₂ of bound (11) comes near the paper's (read as 2.1e9), whose Ξ is not
/// known; where the file drifts, the best loss is larger, and so must be the noise.
inline AsyncPlan three_banks(Drift drift) {
  return {.step = 0.25, .bound = drift == Drift::kNone ? 1.7 : 2.0};
}

/// Records for three banks of the largest size, and the sizes that they can have.
Result<SharedRecords> loans_of_three(const Study& study, Drift drift);
std::vector<uint64_t> sizes_of_three(const Study& study, const Records& records);

void add_bank_settings(Figure& figure);

}  // namespace parley::reproduce::async
