// A ledger in memory for tests of what serves a real owner, which must not reach simulated ledgers
// themselves.
#pragma once

#include <string>

#include "parley/ledger/ledger.h"

namespace parley::test {

ledger::Ledger memory_ledger(const std::string& owner, Clock& clock);

}  // namespace parley::test
