// How much noise a promise needs.
#pragma once

#include "parley/privacy/accounting/accountants.h"

namespace parley::privacy {

/// The events with all noise multiplied by `factor`. An error for those without noise to multiply.
Result<Events> with_noise_times(const Events& events, double factor);

struct Calibrated {
  double factor;   // all noise times this
  double epsilon;  // what it was checked to give: at most what was asked for
};

/// The smallest factor found, within 1e-7 of the best, at which the accountant's epsilon is at most
/// the target. The epsilon of this very factor was computed.
Result<Calibrated> calibrate(const Events& events, const Accountant& accountant, Epsilon target,
                             Delta delta, Adjacency adjacency);

}  // namespace parley::privacy
