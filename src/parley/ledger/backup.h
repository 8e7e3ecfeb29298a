// A copy of a ledger as it is at one moment, also while a daemon writes it.
#pragma once

#include <filesystem>

#include "parley/ledger/read.h"

namespace parley::ledger {

/// The copy is whole and verified when it is there under its name, which nothing may have had
/// before.
Result<Verified> back_up(const std::filesystem::path& file, const std::filesystem::path& copy);

}  // namespace parley::ledger
