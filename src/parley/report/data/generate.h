// Files that were generated, with the hashes a charter needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parley/base/bytes.h"

namespace parley::report {

struct GeneratedFile {
  std::string file;
  uint64_t rows = 0;
  Hash sha256{};
};

std::string to_text(const std::vector<GeneratedFile>& files);
std::string to_json(const std::vector<GeneratedFile>& files);  // parley.generate/1

}  // namespace parley::report
