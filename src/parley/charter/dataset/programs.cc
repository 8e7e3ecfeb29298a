#include "parley/charter/dataset/programs.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "parley/base/files.h"

namespace parley::charter {
namespace {

/// As posix_spawnp looks for it.
std::filesystem::path found_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  if (program.find('/') != std::string::npos || path == nullptr) return program;
  std::string_view rest = path;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const auto file = std::filesystem::path(rest.substr(0, end)) / program;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored)) return file;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return program;
}

bool is_code(const std::filesystem::path& file) {
  constexpr std::array<std::string_view, 6> kEndings = {".py", ".sh", ".R", ".jar", ".js", ".so"};
  std::error_code ignored;
  return std::find(kEndings.begin(), kEndings.end(), file.extension()) != kEndings.end() &&
         std::filesystem::is_regular_file(file, ignored);
}

}  // namespace

std::vector<Program> programs_of(const Policy& policy, const Dataset& data) {
  std::vector<std::filesystem::path> files;
  if (!data.driver.empty()) files.push_back(policy.folder / data.driver);
  if (!data.command.empty()) files.push_back(found_in_path(data.command.front()));
  for (size_t i = 1; i < data.command.size(); ++i)
    if (is_code(data.command[i])) files.emplace_back(data.command[i]);
  std::vector<Program> programs;
  for (const auto& file : files) programs.push_back({file, hash_file(file)});
  return programs;
}

}  // namespace parley::charter
