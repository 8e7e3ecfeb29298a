// The learner's journal: every answer it received, written to the file before the next question is
// sent. Where questions follow from the answers it needs no sync, because owners send again what a
// crash of the machine loses. Where they do not, the question is recorded and synced before it is
// sent. The journal is never held in memory as a whole, and its size is not limited.
#pragma once

#include <filesystem>
#include <string>

#include "parley/wire/transcript.h"

namespace parley::net {

class Journal {
 public:
  /// Of this job, locked against a second process. Where there is none it begins at `now`; likewise
  /// where its writer was stopped before the head was whole, for then nothing has been asked. A
  /// journal of another charter is kIntegrity.
  static Result<Journal> open(const std::filesystem::path& file, const Hash& charter,
                              const std::string& now);
  /// Whether there is one with a whole head, which may be another charter's.
  static bool is_begun(const std::filesystem::path& file);

  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&&) = delete;
  ~Journal();

  /// When the job began: RFC 3339, UTC.
  const std::string& started() const { return started_; }
  /// All that is in it, in its order; to be called once, before anything is appended. A torn end is
  /// cut off.
  Result<void> replay(wire::TranscriptReader::OnEntry on_entry,
                      wire::TranscriptReader::OnNote on_note);

  /// Kept until `flush`, which writes all of a round at once.
  void append(const std::string& owner, const wire::ReceivedAnswer& answer);
  void append(const wire::Note& note);
  /// After it returns, neither a kill nor, if there was a note, a power cut loses what was
  /// appended. Where it fails nothing is written, and it can be tried again.
  Result<void> flush();

  /// All of it, packed, as the transcript of a finished job; returns the SHA-256 of that file. From
  /// then on a power cut takes nothing of the journal either.
  Result<Hash> publish(const std::filesystem::path& transcript) const;

 private:
  Journal(std::filesystem::path file, int descriptor);
  Result<void> begin(const Hash& charter, const std::string& now);
  Result<void> write(const Bytes& bytes);
  void take_back(size_t written);

  std::filesystem::path file_;
  int descriptor_;
  std::string started_{};
  Bytes pending_{};
  bool noted_ = false;  // in what is pending
  bool torn_ = false;   // it ends within an entry, which the next start cuts off
};

}  // namespace parley::net
