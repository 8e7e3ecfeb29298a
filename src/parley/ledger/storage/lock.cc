#include "parley/ledger/storage/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace parley::ledger {

Result<Lock> Lock::take(const std::filesystem::path& ledger) {
  std::filesystem::path file = ledger;
  file.replace_extension(".lock");
  const auto refuse = [&](Code code, std::string what, std::string hint) {
    return Error{code, std::move(what), std::move(hint), {.file = ledger.string()}};
  };
  if (file == ledger)
    return refuse(Code::kInvalid, "a ledger cannot have the name of its lock",
                  "Use another extension, for example .db.");
  Lock lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  const bool absent = lock.descriptor_ < 0 && (errno == ENOENT || errno == ENOTDIR);
  if (absent)
    return refuse(Code::kInvalid, "its folder does not exist", "Make it, or check the path.");
  if (lock.descriptor_ >= 0 && ::flock(lock.descriptor_, LOCK_EX | LOCK_NB) == 0) return lock;
  if (lock.descriptor_ >= 0 && errno == EWOULDBLOCK)
    return refuse(Code::kFailed, "is in use by another process",
                  "A ledger has one writer: stop the other process, or let it finish.");
  return refuse(Code::kFailed, "cannot lock " + file.string() + ": " + std::strerror(errno),
                "Check the permissions of the folder, and that it is on a local disk with room.");
}

// Closing is enough, and unlike LOCK_UN it does not unlock for a parent that forked us.
Lock::~Lock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace parley::ledger
