// The lock of a ledger: one writer on the machine. The kernel releases it when the process that
// holds it dies.
#pragma once

#include <filesystem>
#include <utility>

#include "parley/base/result.h"

namespace parley::ledger {

class Lock {
 public:
  /// Locks the file with the extension .lock beside `ledger`, and makes it if need be. It is never
  /// removed: two processes could then each hold a lock of that name. Does not wait.
  static Result<Lock> take(const std::filesystem::path& ledger);

  Lock(Lock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Lock& operator=(Lock&&) = delete;
  ~Lock();

 private:
  explicit Lock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace parley::ledger
