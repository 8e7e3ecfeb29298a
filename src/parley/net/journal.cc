#include "parley/net/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "parley/base/files.h"
#include "parley/wire/transcript_file.h"

namespace parley::net {
namespace {

constexpr size_t kJournalBytesMax = size_t{4} << 30;

Error failed(const std::string& what, const std::filesystem::path& file) {
  return {Code::kFailed,
          what + ": " + std::strerror(errno),
          "Check the disk.",
          {.file = file.string()}};
}

/// Opened and locked: two learners of one job would ask different questions.
Result<int> open_locked(const std::filesystem::path& file, int flags) {
  const int descriptor = ::open(file.c_str(), flags | O_RDWR | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) return failed("cannot be opened", file);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  ::close(descriptor);
  return Error{Code::kFailed,
               "another learner is running this job",
               "Wait for it, or stop it.",
               {.file = file.string()}};
}

/// So that a power cut does not take the file with all that is synced in it.
Result<void> sync_folder(const std::filesystem::path& folder) {
  const int descriptor =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  if (descriptor >= 0) ::close(descriptor);
  return synced ? Result<void>() : failed("cannot be synced", folder);
}

}  // namespace

Journal::Journal(std::filesystem::path file, int descriptor)
    : file_(std::move(file)), descriptor_(descriptor) {}
Journal::Journal(Journal&& other) noexcept
    : file_(std::move(other.file_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<Journal> Journal::create(const std::filesystem::path& file, const Hash& charter,
                                const std::string& started) {
  if (std::filesystem::exists(file))
    return Error{Code::kInvalid,
                 "this job has been started before",
                 "Go on with `parley learner resume`, or give another --out.",
                 {.file = file.string()}};
  TRY(make_directories(file.parent_path()));
  Journal journal(file, TRY(open_locked(file, O_CREAT | O_EXCL)));
  TRY(journal.write(wire::transcript_head(charter, started)));
  TRY(sync_folder(file.parent_path()));
  return journal;
}

Result<Journal::Resumed> Journal::resume(const std::filesystem::path& file, const Hash& charter) {
  Journal journal(file, TRY(open_locked(file, 0)));
  const std::string text = TRY(read_file(file, kJournalBytesMax));
  auto parsed = wire::parse_transcript(as_bytes(text));
  if (!parsed) {
    Error error = parsed.error();
    error.where.file = file.string();
    return error;
  }
  if (parsed->charter != charter)
    return Error{Code::kIntegrity,
                 "is the journal of charter " + to_hex(parsed->charter),
                 "Resume with the charter that the job was started with.",
                 {.file = file.string()}};
  if (::ftruncate(journal.descriptor_, static_cast<off_t>(parsed->whole)) != 0)
    return failed("cannot be shortened", file);
  return Resumed{std::move(journal), *std::move(parsed)};
}

void Journal::append(const std::string& owner, const wire::ReceivedAnswer& answer) {
  const Bytes entry = wire::transcript_entry(owner, answer);
  pending_.insert(pending_.end(), entry.begin(), entry.end());
}

void Journal::append(const wire::Note& note) {
  const Bytes entry = wire::transcript_note(note);
  pending_.insert(pending_.end(), entry.begin(), entry.end());
  noted_ = true;
}

Result<void> Journal::flush() {
  TRY(write(pending_));
  pending_.clear();
  if (std::exchange(noted_, false) && ::fdatasync(descriptor_) != 0)
    return failed("cannot be synced", file_);
  return {};
}

Result<void> Journal::write(const Bytes& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::write(descriptor_, &bytes[done], bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed("cannot be written", file_);
    done += static_cast<size_t>(count);
  }
  return {};
}

Result<Hash> Journal::publish(const std::filesystem::path& transcript) const {
  const std::string text = TRY(read_file(file_, kJournalBytesMax));
  return wire::write_packed(transcript, as_bytes(text));
}

}  // namespace parley::net
