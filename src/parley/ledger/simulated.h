// The word that opens a ledger whose rows are not synced to disk. tests/tidy.py keeps this file out
// of everything that serves a real owner: a power cut would give budget back.
#pragma once

namespace parley::ledger {

struct Simulated {};

}  // namespace parley::ledger
