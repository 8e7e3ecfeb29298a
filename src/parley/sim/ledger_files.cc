#include "parley/sim/ledger_files.h"

#include "parley/base/files.h"

namespace parley::sim {

Result<void> clear_ledgers(const charter::Charter& charter, const std::filesystem::path& out) {
  for (const charter::Owner& owner : charter.owners) {
    const auto file = ledger_file(out, owner.name);
    TRY(make_directories(file.parent_path()));
    std::error_code ignored;
    for (const char* suffix : {"", "-wal", "-shm"})
      std::filesystem::remove(file.string() + suffix, ignored);
  }
  return {};
}

}  // namespace parley::sim
