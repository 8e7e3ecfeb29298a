#include "parley/ledger/backup.h"

#include <fcntl.h>
#include <unistd.h>

#include <vector>

#include "parley/base/files.h"
#include "parley/ledger/storage/lock.h"
#include "parley/ledger/storage/sqlite.h"

namespace parley::ledger {
namespace {

namespace fs = std::filesystem;

/// In one snapshot: what is paid for meanwhile is not in it.
Result<void> copy_to(const fs::path& file, const fs::path& copy) {
  Connection db = TRY(Connection::read(file));
  const std::string path = copy.string();
  TRY(TRY(db.prepare("VACUUM INTO ?")).bind(std::string_view(path)).step());
  return {};
}

bool sync(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  if (descriptor >= 0) ::close(descriptor);
  return synced;
}

Result<void> must_be_there(const fs::path& file) {
  std::error_code failed;
  if (fs::is_regular_file(file, failed)) return {};
  return Error{Code::kInvalid, "there is no such file", "Check the path.", {.file = file.string()}};
}

/// `made` appears whole and verified, in the place of what had that name.
Result<Verified> copy_whole(const fs::path& file, const fs::path& made) {
  std::error_code failed;
  const fs::path part = made.string() + ".part";
  fs::remove(part, failed);
  auto verified = [&]() -> Result<Verified> {
    TRY(copy_to(file, part));
    fs::permissions(part, fs::perms::owner_read | fs::perms::owner_write, failed);
    Verified verified = TRY(verify(part));
    if (sync(part)) fs::rename(part, made, failed);
    if (!failed && sync(made.parent_path())) return verified;
    return Error{Code::kFailed,
                 "the copy cannot be written to disk",
                 "Is there room, and may you write there?",
                 {.file = made.string()}};
  }();
  if (!verified) fs::remove(part, failed);
  return verified;
}

/// What SQLite keeps beside a file.
std::vector<fs::path> beside(const fs::path& file) {
  return {file.string() + "-wal", file.string() + "-shm"};
}

/// Every row of the ledger in `file`, if there is one, is one of the copy.
Result<void> must_be_older(const fs::path& file, const fs::path& copy) {
  const auto refuse = [&](std::string what) {
    return Error{
        Code::kIntegrity,
        std::move(what),
        "To use the copy all the same: move ledger.db, ledger.db-wal and ledger.db-shm to a "
        "folder where "
        "they are kept, and restore again.",
        {.file = file.string()}};
  };
  std::error_code failed;
  if (!fs::exists(file, failed)) {
    for (const fs::path& rest : beside(file))
      if (fs::exists(rest, failed)) return refuse("is gone, but a part of it is left beside it");
    return {};
  }
  const auto found = verify(file);
  if (!found)
    return refuse("cannot be read, and may have rows that the copy has not: " + found.error().what);
  if (found->rows == 0) return {};
  const Contents known =
      TRY(read(copy, {.wants = [&](const Row& row) { return row.id == found->rows; }}));
  if (!known.rows.empty() && known.rows.front().hash == found->head) return {};
  return refuse("has rows that the copy has not: it is newer, or another ledger");
}

}  // namespace

Result<Verified> back_up(const fs::path& file, const fs::path& copy) {
  std::error_code failed;
  const fs::path path = fs::absolute(file, failed), made = fs::absolute(copy, failed);
  TRY(must_be_there(path));
  TRY(must_be_absent(made));
  return copy_whole(path, made);
}

Result<Verified> restore(const fs::path& copy, const fs::path& file, const std::string& owner) {
  std::error_code failed;
  const fs::path path = fs::absolute(copy, failed), made = fs::absolute(file, failed);
  TRY(must_be_there(path));
  const Verified copied = TRY(verify(path));
  if (copied.owner != owner)
    return Error{Code::kInvalid,
                 "is the ledger of " + copied.owner + ", and the policy is that of " + owner,
                 "Check the path.",
                 {.file = copy.string()}};
  const Lock lock = TRY(Lock::take(made));
  TRY(must_be_older(made, path));
  for (const fs::path& rest : beside(made)) fs::remove(rest, failed);
  return copy_whole(path, made);
}

}  // namespace parley::ledger
