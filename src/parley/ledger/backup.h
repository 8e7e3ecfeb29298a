// A consistent copy of a ledger, also while a daemon writes it, and how to restore it.
#pragma once

#include <filesystem>
#include <string>

#include "parley/ledger/read.h"

namespace parley::ledger {

/// The copy appears under its name once it is complete and verified. No file may have that name
/// before.
Result<Verified> back_up(const std::filesystem::path& file, const std::filesystem::path& copy);

/// Puts a copy in the place of the ledger of `owner` if that is missing or older than the copy. A
/// ledger that cannot be shown to be older stays: an intact one with a row that the copy does not
/// have, and a damaged one, which may have such rows. Whether the copy itself is too old is known
/// only from peers' receipts and a witness.
Result<Verified> restore(const std::filesystem::path& copy, const std::filesystem::path& file,
                         const std::string& owner);

}  // namespace parley::ledger
