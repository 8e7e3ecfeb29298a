// Files: read whole with a limit, written whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "parley/base/bytes.h"
#include "parley/base/result.h"

namespace parley {

/// The whole file. One larger than `bytes_max` is an error, not a surprise.
Result<std::string> read_file(const std::filesystem::path& path, size_t bytes_max = 64 << 20);

/// Written beside, synced and renamed: readers see the old file or the new one, never a part.
Result<void> write_file(const std::filesystem::path& path, std::string_view content);

/// Makes files that are not there yet: if one is, that is an error, and all stay as they are. A
/// secret one can be opened by its user only, from the moment it exists.
struct FileToMake {
  std::filesystem::path path;
  std::string content;
  bool secret = false;
};
Result<void> make_files(std::span<const FileToMake> files);
Result<void> must_be_absent(const std::filesystem::path& path);

/// Added at the end and synced, in one piece.
Result<void> append_to_file(const std::filesystem::path& path, std::string_view content);

/// For files larger than memory. Hands the file to `take` piece by piece until it returns false.
Result<void> read_pieces(const std::filesystem::path& path,
                         const std::function<bool(ByteView)>& take);

/// As write_file, for content made piece by piece; `next` returns an empty piece at the end.
Result<void> write_pieces(const std::filesystem::path& path,
                          const std::function<std::string_view()>& next);

/// The same for several files at once: one appears under its name when `finish` succeeds, and
/// otherwise never was.
class NewFile {
 public:
  static Result<NewFile> create(const std::filesystem::path& path);
  NewFile(NewFile&& other) noexcept
      : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  Result<void> write(std::string_view piece);
  Result<void> finish();

 private:
  NewFile(std::filesystem::path path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor) {}
  std::string aside() const;

  std::filesystem::path path_;
  int descriptor_;
};

/// Files that a process was writing in this folder when it was killed, as the classes above do it:
/// removed, unless that process lives.
void remove_leftovers(const std::filesystem::path& folder);

Result<void> make_directories(const std::filesystem::path& path);

/// SHA-256 of a file of any size.
Result<Hash> hash_file(const std::filesystem::path& path);

}  // namespace parley
