// Making a ledger: its tables, format 2, and its first row.
#pragma once

#include <filesystem>
#include <string>

#include "parley/base/bytes.h"
#include "parley/base/clock.h"
#include "parley/base/result.h"
#include "parley/ledger/storage/sqlite.h"

namespace parley::ledger {

/// Of new ledgers. Those of format 1 stay what they are: they have one index more, and no kind of
/// row but 'approval' for notes.
inline constexpr int64_t kFormat = 2;

/// Everything create() makes, by type and name. Not by its text, which may be laid out anew without
/// closing older ledgers.
inline constexpr const char* kShape =
    "index one_answer, table charge, table dataset, table ledger, "
    "trigger charge_is_append_only, trigger charge_is_kept";

/// Makes the tables and the ledger's own row, in one transaction.
Result<void> create(Connection& db, const std::string& owner, Clock& clock, const Hash& genesis);

/// Whether rows must survive a power cut. Those of a simulation need not.
enum class Disk { kSynced, kUnsynced };

/// Makes the file, whole or not at all: it is written beside and renamed. The caller holds the
/// lock.
Result<void> create_file(const std::filesystem::path& file, const std::string& owner, Clock& clock,
                         Disk disk);

}  // namespace parley::ledger
