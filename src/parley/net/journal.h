// The learner's journal: every answer it took, in the file before the next question goes out. It
// needs no sync, for owners replay what a crash of the machine loses.
#pragma once

#include <filesystem>
#include <string>

#include "parley/wire/transcript.h"

namespace parley::net {

class Journal {
 public:
  /// A new one; a job that has one already must be resumed (kInvalid).
  static Result<Journal> create(const std::filesystem::path& file, const Hash& charter,
                                const std::string& started);
  /// An existing one, which must be this charter's, and what is in it. A torn end is cut off.
  struct Resumed;
  static Result<Resumed> resume(const std::filesystem::path& file, const Hash& charter);

  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&&) = delete;
  ~Journal();

  /// Kept until `flush`, which writes all of a round at once.
  void append(const std::string& owner, const wire::ReceivedAnswer& answer);
  Result<void> flush();

  /// All of it, packed, as the transcript of a finished job; returns the SHA-256 of that file.
  Result<Hash> publish(const std::filesystem::path& transcript) const;

 private:
  Journal(std::filesystem::path file, int descriptor);
  Result<void> write(const Bytes& bytes);

  std::filesystem::path file_;
  int descriptor_;
  Bytes pending_{};
};

struct Journal::Resumed {
  Journal journal;
  std::string started;
  std::vector<wire::Entry> entries;
};

}  // namespace parley::net
