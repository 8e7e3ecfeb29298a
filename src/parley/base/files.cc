#include "parley/base/files.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

namespace parley {
namespace {

/// An open file that closes itself.
class File {
 public:
  File(const char* path, int flags, mode_t mode = 0644)
      : descriptor_(::open(path, flags | O_CLOEXEC, mode)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

Error file_error(const std::filesystem::path& path, const char* doing) {
  const int reason = errno;
  const bool absent = reason == ENOENT || reason == ENOTDIR;
  const bool full = reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
  return {.code = absent || reason == EACCES || reason == EISDIR ? Code::kInvalid : Code::kFailed,
          .what = std::string("cannot ") + doing + ": " + std::strerror(reason),
          .hint = absent ? "Check the path."
                  : full ? "Make room on the disk, then try again."
                         : "",
          .where = {.file = path.string()}};
}

Result<void> write_all(int descriptor, std::string_view content,
                       const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t put = ::write(descriptor, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return file_error(path, "write");
    content.remove_prefix(static_cast<size_t>(put));
  }
  return {};
}

constexpr std::string_view kAside = ".tmp";  // and the process that writes it

/// Its process is gone; of our own number it is one before us, for we have just begun.
bool is_leftover(std::string_view name) {
  const size_t at = name.rfind(kAside);
  if (at == name.npos || at == 0) return false;
  const std::string_view digits = name.substr(at + kAside.size());
  pid_t process = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), process);
  if (failed != std::errc() || end != digits.data() + digits.size() || process <= 0) return false;
  return process == ::getpid() || (::kill(process, 0) != 0 && errno == ESRCH);
}

Result<void> make_file(const FileToMake& wanted) {
  const File file(wanted.path.c_str(), O_WRONLY | O_CREAT | O_EXCL, wanted.secret ? 0600 : 0644);
  if (file.get() < 0) return file_error(wanted.path, "write");
  auto written = write_all(file.get(), wanted.content, wanted.path);
  if (written && ::fsync(file.get()) != 0) written = file_error(wanted.path, "sync");
  if (!written) ::unlink(wanted.path.c_str());  // Half a key is worse than none.
  return written;
}

}  // namespace

Result<void> read_pieces(const std::filesystem::path& path,
                         const std::function<bool(ByteView)>& take) {
  const File file(path.c_str(), O_RDONLY);
  if (file.get() < 0) return file_error(path, "read");
  std::array<uint8_t, 1 << 16> piece;
  for (;;) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error(path, "read");
    if (got == 0 || !take({piece.data(), static_cast<size_t>(got)})) return {};
  }
}

Result<std::string> read_file(const std::filesystem::path& path, size_t bytes_max) {
  std::string content;
  TRY(read_pieces(path, [&](ByteView piece) {
    content.append(piece.begin(), piece.end());
    return content.size() <= bytes_max;
  }));
  if (content.size() > bytes_max)
    return Error{Code::kInvalid,
                 "is larger than " + std::to_string(bytes_max) + " bytes",
                 "Is this the right file?",
                 {.file = path.string()}};
  return content;
}

Result<void> write_file(const std::filesystem::path& path, std::string_view content) {
  return write_pieces(path, [&] { return std::exchange(content, {}); });
}

Result<void> must_be_absent(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) return {};
  return Error{Code::kInvalid,
               "is there already, and nothing is overwritten",
               "Move it away, or choose another place with --out.",
               {.file = path.string()}};
}

Result<void> make_files(std::span<const FileToMake> files) {
  for (const FileToMake& each : files) TRY(must_be_absent(each.path));
  for (const FileToMake& each : files) TRY(make_file(each));
  return {};
}

Result<void> append_to_file(const std::filesystem::path& path, std::string_view content) {
  const File file(path.c_str(), O_WRONLY | O_CREAT | O_APPEND);
  if (file.get() < 0) return file_error(path, "write");
  TRY(write_all(file.get(), content, path));
  if (::fsync(file.get()) != 0) return file_error(path, "sync");
  return {};
}

Result<void> write_pieces(const std::filesystem::path& path,
                          const std::function<std::string_view()>& next) {
  NewFile file = TRY(NewFile::create(path));
  for (std::string_view piece = next(); !piece.empty(); piece = next()) TRY(file.write(piece));
  return file.finish();
}

Result<NewFile> NewFile::create(const std::filesystem::path& path) {
  NewFile file(path, -1);
  file.descriptor_ = ::open(file.aside().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file.descriptor_ < 0) return file_error(path, "write");
  return file;
}

NewFile::~NewFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(aside().c_str());
}

Result<void> NewFile::write(std::string_view piece) { return write_all(descriptor_, piece, path_); }

Result<void> NewFile::finish() {
  if (::fsync(descriptor_) != 0) return file_error(path_, "sync");
  if (::rename(aside().c_str(), path_.c_str()) != 0) return file_error(path_, "write");
  ::close(std::exchange(descriptor_, -1));
  const std::filesystem::path parent = path_.has_parent_path() ? path_.parent_path() : ".";
  const File directory(parent.c_str(), O_RDONLY | O_DIRECTORY);
  if (directory.get() >= 0) ::fsync(directory.get());
  return {};
}

std::string NewFile::aside() const {
  return path_.string() + std::string(kAside) + std::to_string(::getpid());
}

void remove_leftovers(const std::filesystem::path& folder) {
  std::error_code failed;
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed))
    if (is_leftover(entry.path().filename().string())) found.push_back(entry.path());
  for (const auto& file : found) std::filesystem::remove(file, failed);
}

Result<void> make_directories(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed)
    return Error{
        Code::kFailed, "cannot make the folder: " + failed.message(), "", {.file = path.string()}};
  return {};
}

Result<Hash> hash_file(const std::filesystem::path& path) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(),
                                                                       EVP_MD_CTX_free);
  check(digest && EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr) == 1);
  TRY(read_pieces(path, [&](ByteView piece) {
    check(EVP_DigestUpdate(digest.get(), piece.data(), piece.size()) == 1);
    return true;
  }));
  Hash hash;
  check(EVP_DigestFinal_ex(digest.get(), hash.data(), nullptr) == 1);
  return hash;
}

}  // namespace parley
