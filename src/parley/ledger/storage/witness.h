// A witness: a small file, kept elsewhere than the ledger, that records the ledger's newest row, so
// that an older copy of the ledger is detected when it is opened.
//
// It has two lines, written in turn and each with its own hash, so that a write that was
// interrupted leaves the other line intact. It is written after every commit and synced when the
// ledger is opened and closed. A power cut can lose what the system had not yet written to disk,
// about the last half minute.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

#include "parley/base/bytes.h"
#include "parley/base/result.h"

namespace parley::ledger {

class Witness {
 public:
  /// What a ledger had when it was last seen.
  struct Seen {
    Hash origin{};  // which ledger
    int64_t rows = 0;
    Hash head{};         // of the last row
    int64_t charge = 0;  // the last charge; 0: none
    Hash charge_hash{};  // as its receipt says
    bool operator==(const Seen&) const = default;
  };

  /// Opens the file or makes it. One that was damaged is an error: nobody knows what it saw.
  static Result<Witness> open(const std::filesystem::path& file);
  Witness(Witness&& other) noexcept
      : file_(std::move(other.file_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        seen_(other.seen_),
        line_(other.line_) {}
  Witness& operator=(Witness&&) = delete;
  ~Witness();

  const std::optional<Seen>& seen() const { return seen_; }
  const std::filesystem::path& file() const { return file_; }
  Result<void> write(const Seen& seen);
  Result<void> sync();

 private:
  Witness(std::filesystem::path file, int descriptor)
      : file_(std::move(file)), descriptor_(descriptor) {}
  Error failed() const;

  std::filesystem::path file_;
  int descriptor_;
  std::optional<Seen> seen_{};
  int line_ = 0;  // the next to be written
};

}  // namespace parley::ledger
