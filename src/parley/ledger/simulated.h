// The tag that opens a ledger whose rows are not synced to disk. tests/tidy.py keeps this file out
// of everything that serves a real owner, because after a power cut such a ledger would have lost
// charges.
#pragma once

namespace parley::ledger {

struct Simulated {};

}  // namespace parley::ledger
