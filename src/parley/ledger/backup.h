// A consistent copy of a ledger, also while a daemon writes it, and how to restore it.
#pragma once

#include <filesystem>
#include <string>

#include "parley/ledger/read.h"

namespace parley::ledger {

/// The copy is whole and verified when it is there under its name, which nothing may have had
/// before.
Result<Verified> back_up(const std::filesystem::path& file, const std::filesystem::path& copy);

/// Puts a copy where the ledger of `owner` is missed, or is older than the copy. What cannot be
/// shown to be older stays: a whole ledger with a row that the copy has not, and a damaged one,
/// which may have such rows. Whether the copy itself is too old only peers' receipts and a witness
/// tell.
Result<Verified> restore(const std::filesystem::path& copy, const std::filesystem::path& file,
                         const std::string& owner);

}  // namespace parley::ledger
