// Stand-in for the card fraud data: 28 principal components with heavy tails and the published
// deviations, an amount, and 0.172 % frauds, shifted by the published means of their class and
// wider (theory (W14)).
#pragma once

#include "parley/sim/standin/standin.h"

namespace parley::sim {

/// Columns v1 .. v28, amount, standardised by published constants; raw V1 .. V28, Amount. The
/// target Class is 0 or 1.
Standin credit_standin(const StandinOptions& options);

}  // namespace parley::sim
