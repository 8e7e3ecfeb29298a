// The learner's journal: every answer it took, in the file before the next question goes out. Where
// questions follow from the answers it needs no sync, for owners replay what a crash of the machine
// loses; where they do not, what was asked is noted and synced before it is asked.
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
  void append(const wire::Note& note);
  /// After it returns, neither a kill nor, if there was a note, a power cut loses what was
  /// appended.
  Result<void> flush();

  /// All of it, packed, as the transcript of a finished job; returns the SHA-256 of that file.
  Result<Hash> publish(const std::filesystem::path& transcript) const;

 private:
  Journal(std::filesystem::path file, int descriptor);
  Result<void> write(const Bytes& bytes);

  std::filesystem::path file_;
  int descriptor_;
  Bytes pending_{};
  bool noted_ = false;  // in what is pending
};

struct Journal::Resumed {
  Journal journal;
  wire::Transcript transcript;
};

}  // namespace parley::net
