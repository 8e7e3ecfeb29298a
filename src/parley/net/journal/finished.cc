#include "parley/net/journal/finished.h"

#include <sstream>
#include <utility>

#include "parley/base/files.h"

namespace parley::net {

FinishedJobs::FinishedJobs(std::filesystem::path file) : file_(std::move(file)) {
  const auto text = read_file(file_);
  if (!text) return;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);)
    if (const auto charter = hash_from_hex(line)) charters_.insert(*charter);
}

Result<void> FinishedJobs::add(const Hash& charter) {
  if (!charters_.insert(charter).second) return {};
  return append_to_file(file_, to_hex(charter) + "\n");
}

}  // namespace parley::net
