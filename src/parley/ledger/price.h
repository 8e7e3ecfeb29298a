// The cost of an event of which only the receipt is left.
#pragma once

#include <string>

#include "parley/base/result.h"
#include "parley/privacy/mechanism.h"

namespace parley::ledger {

/// The charge that the mechanism behind this DpEvent JSON was booked with, to the bit; for events
/// of other makers one that is not below it. kIntegrity if it cannot be told.
Result<privacy::Cost> price_of(const std::string& event);

}  // namespace parley::ledger
