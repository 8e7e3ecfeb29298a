// The simulator's seeded entropy, for tests of every module.
#pragma once

#include "parley/sim/seeded_entropy.h"

namespace parley::test {

using sim::SeededEntropy;

/// Uniform in [0, 1), for making test data.
inline double uniform(Entropy& entropy) { return double(entropy.word() >> 11) * 0x1p-53; }

}  // namespace parley::test
