// Where the first run of a simulation leaves its ledgers. Only these files are ever replaced.
#pragma once

#include <filesystem>
#include <string>

#include "parley/charter/charter.h"

namespace parley::sim {

/// Empty, which means in memory, if nothing is to be kept.
inline std::filesystem::path ledger_file(const std::filesystem::path& out,
                                         const std::string& owner) {
  return out.empty() ? out : out / "simulated" / owner / "ledger.db";
}

Result<void> clear_ledgers(const charter::Charter& charter, const std::filesystem::path& out);

}  // namespace parley::sim
