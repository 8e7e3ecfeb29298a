#include "parley/net/journal/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "parley/base/files.h"
#include "parley/wire/transcript_file.h"

namespace parley::net {
namespace {

constexpr size_t kHeadRoom = 8192;  // more than a head has

Error failed(const std::string& what, const std::filesystem::path& file) {
  const int reason = errno;
  const bool full = reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
  return {Code::kFailed,
          what + ": " + std::strerror(reason),
          full ? "Make room on the disk, and start again: the job goes on where it was."
               : "Check the disk, and start again: the job goes on where it was.",
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

/// The first bytes of a file.
Bytes first_bytes(int descriptor) {
  Bytes bytes(kHeadRoom);
  const ssize_t count = ::pread(descriptor, bytes.data(), bytes.size(), 0);
  bytes.resize(count > 0 ? static_cast<size_t>(count) : 0);
  return bytes;
}

/// Whoever wrote it was stopped before the head was whole. After a power cut there may be zeros.
bool is_torn(const Bytes& bytes) {
  if (bytes.size() == kHeadRoom) return false;
  const auto head = wire::read_head(bytes);
  return head ? !*head : std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0; });
}

}  // namespace

Journal::Journal(std::filesystem::path file, int descriptor)
    : file_(std::move(file)), descriptor_(descriptor) {}
Journal::Journal(Journal&& other) noexcept
    : file_(std::move(other.file_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      started_(std::move(other.started_)) {}
Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool Journal::is_begun(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const Bytes bytes = first_bytes(descriptor);
  ::close(descriptor);
  return !is_torn(bytes);
}

Result<Journal> Journal::open(const std::filesystem::path& file, const Hash& charter,
                              const std::string& now) {
  TRY(make_directories(file.parent_path()));
  Journal journal(file, TRY(open_locked(file, O_CREAT)));
  const Bytes bytes = first_bytes(journal.descriptor_);
  if (is_torn(bytes)) {
    TRY(journal.begin(charter, now));
    return journal;
  }
  const auto head = wire::read_head(bytes);
  if (!head) {
    Error error = head.error();
    error.where.file = file.string();
    return error;
  }
  check(head->has_value());  // There is room for more than a head.
  if ((*head)->charter != charter)
    return Error{Code::kIntegrity,
                 "is the journal of charter " + to_hex((*head)->charter),
                 "Run the charter that the job was started with, or give another --out.",
                 {.file = file.string()}};
  journal.started_ = (*head)->started;
  return journal;
}

/// Synced: a head that is torn tells that nothing was asked.
Result<void> Journal::begin(const Hash& charter, const std::string& now) {
  if (::ftruncate(descriptor_, 0) != 0) return failed("cannot be shortened", file_);
  TRY(write(wire::transcript_head(charter, now)));
  if (::fsync(descriptor_) != 0) return failed("cannot be synced", file_);
  started_ = now;
  return sync_folder(file_.parent_path());
}

Result<void> Journal::replay(wire::TranscriptReader::OnEntry on_entry,
                             wire::TranscriptReader::OnNote on_note) {
  wire::TranscriptReader reader(std::move(on_entry), std::move(on_note));
  Result<void> taken;
  TRY(read_pieces(file_, [&](ByteView piece) { return bool(taken = reader.take(piece)); }));
  if (!taken) {
    Error error = taken.error();
    error.where.file = file_.string();
    return error;
  }
  if (::ftruncate(descriptor_, static_cast<off_t>(reader.whole())) != 0)
    return failed("cannot be shortened", file_);
  return {};
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
  if (torn_)
    return Error{Code::kFailed,
                 "could not be written before",
                 "Check the disk, and start again: the job goes on where it was.",
                 {.file = file_.string()}};
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::write(descriptor_, &bytes[done], bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const Error error = failed("cannot be written", file_);
      take_back(done);
      return error;
    }
    done += static_cast<size_t>(count);
  }
  return {};
}

/// Half an entry must not be followed by another one.
void Journal::take_back(size_t written) {
  const off_t end = ::lseek(descriptor_, 0, SEEK_END);
  torn_ = end < 0 || ::ftruncate(descriptor_, end - static_cast<off_t>(written)) != 0;
}

Result<Hash> Journal::publish(const std::filesystem::path& transcript) const {
  if (::fsync(descriptor_) != 0) return failed("cannot be synced", file_);
  return wire::pack_transcript(file_, transcript);
}

}  // namespace parley::net
