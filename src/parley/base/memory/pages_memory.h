// Bytes in pages of their own: huge pages where the system has them, grown by moving pages instead
// of copying. Beyond a limit they lie in a file, of which the system keeps in memory what it has
// room for, and we what is being worked on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>

#include "parley/base/result.h"

namespace parley {

struct MemoryLimit {
  uint64_t bytes = std::numeric_limits<uint64_t>::max();
  std::filesystem::path folder{};  // for the file, which has no name there and is this user's only
};

/// How much of a limit is used, by all pages that share it. Not for several threads.
struct MemoryUse {
  MemoryLimit limit;
  uint64_t bytes = 0;              // not in files
  std::optional<Error> failure{};  // a file could not grow; numbers are missing
};

class PageMemory {
 public:
  /// What is worked on at a time where pages lie in a file.
  static constexpr size_t kWindow = 4 << 20;

  explicit PageMemory(std::shared_ptr<MemoryUse> use = nullptr) : use_(std::move(use)) {}
  PageMemory(PageMemory&& other) noexcept;
  PageMemory& operator=(PageMemory other) noexcept;
  ~PageMemory();

  std::byte* data() const { return data_; }
  size_t room() const { return room_; }
  bool in_file() const { return file_ >= 0; }

  /// Room for `bytes`, of which the first `used` hold something and all others are zero. False: the
  /// file cannot have it, and the shared failure says why.
  bool grow(size_t used, size_t bytes);

  /// Whoever reads [begin, end) next has time: they need not stay in memory.
  void release(size_t begin, size_t end) const;

 private:
  bool fits(size_t bytes) const;
  void grow_in_memory(size_t bytes);
  bool move_to_file(size_t used);
  bool grow_file(size_t used, size_t bytes);
  bool extend_file(size_t bytes);
  bool fail(int reason);

  std::byte* data_ = nullptr;
  size_t mapped_ = 0;
  size_t room_ = 0;     // at most mapped_; less where the file's pages are let go on the way
  size_t written_ = 0;  // of the file: on its way to the disk
  int file_ = -1;
  std::shared_ptr<MemoryUse> use_;
};

}  // namespace parley
