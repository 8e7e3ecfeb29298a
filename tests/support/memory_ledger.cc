#include "support/memory_ledger.h"

#include "parley/ledger/simulated.h"

namespace parley::test {

ledger::Ledger memory_ledger(const std::string& owner, Clock& clock) {
  return *ledger::Ledger::open_volatile(owner, clock, ledger::Simulated{});
}

}  // namespace parley::test
