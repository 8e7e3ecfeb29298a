// Rule noisy_sharing (V-A, learn/sharing/noisy_sharing.h): private, and weak. In the simulator
// only, for comparison.
#pragma once

#include "parley/sim/simulate.h"

namespace parley::sim {

struct NoisySharingRun {
  std::vector<std::vector<double>> parts{};  // every owner's coefficients
  std::vector<double> epsilon{};             // by its ledger
  uint32_t rounds = 0;
  /// published[t][m]: the numbers of owner m in round t + 1, noise included.
  std::vector<std::vector<std::vector<int64_t>>> published{};
};

/// Every round is charged to every owner, for the whole record.
Result<NoisySharingRun> share_noisily(const SimulateInput& input, const SimulateOptions& options,
                                      uint64_t run);

/// What the owners would have published in each round but for the noise, had this been their data:
/// for an attacker.
Result<std::vector<std::vector<std::vector<int64_t>>>> expected_shares(
    const SimulateInput& input, const std::vector<std::vector<std::vector<int64_t>>>& published);

}  // namespace parley::sim
