// A folder for files that a call needs while it runs.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "parley/base/result.h"

namespace parley::api {

/// Removed with everything in it when it is no longer needed.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make() {
    std::error_code none;
    std::string name = (std::filesystem::temp_directory_path(none) / "parley-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      return Error{Code::kFailed, "no temporary folder could be made", "See TMPDIR."};
    return TemporaryFolder(name);
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace parley::api
