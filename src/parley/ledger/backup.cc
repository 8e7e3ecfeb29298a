#include "parley/ledger/backup.h"

#include <fcntl.h>
#include <unistd.h>

#include "parley/base/files.h"
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

}  // namespace

Result<Verified> back_up(const fs::path& file, const fs::path& copy) {
  std::error_code failed;
  const fs::path path = fs::absolute(file, failed), made = fs::absolute(copy, failed);
  if (!fs::is_regular_file(path, failed))
    return Error{
        Code::kInvalid, "there is no such file", "Check the path.", {.file = file.string()}};
  TRY(must_be_absent(made));
  const fs::path part = made.string() + ".part";
  fs::remove(part, failed);
  auto verified = [&]() -> Result<Verified> {
    TRY(copy_to(path, part));
    fs::permissions(part, fs::perms::owner_read | fs::perms::owner_write, failed);
    Verified verified = TRY(verify(part));
    if (sync(part)) fs::rename(part, made, failed);
    if (!failed && sync(made.parent_path())) return verified;
    return Error{Code::kFailed,
                 "the copy cannot be written to disk",
                 "Is there room, and may you write there?",
                 {.file = copy.string()}};
  }();
  if (!verified) fs::remove(part, failed);
  return verified;
}

}  // namespace parley::ledger
