// Generated stand-in for small hospitals that differ: which patients stay a week or more (theory
// (W13)). Each hospital has its own coefficients, around common ones, and its own mix of patients,
// so that neither a model of its few rows nor the model of all rows is best for it.
#pragma once

#include "parley/sim/standin/standin.h"

namespace parley::sim {

/// exp(U) rows with U uniform from log 80 to log 320; forty hospitals by default.
std::vector<uint64_t> stays_sizes(size_t hospitals = 40, uint64_t seed = 1);

/// 11 scores in [-1, 1], 12 columns of 0 and 1, the hospital's number, site, and the target
/// long_stay, 0 or 1. The pilot's rows are those of 8 further hospitals, one after the other.
Standin stays_standin(const StandinOptions& options);

}  // namespace parley::sim
