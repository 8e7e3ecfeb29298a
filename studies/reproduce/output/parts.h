// A reproduction in parts: each part leaves its figures in one file, with every number exact, and
// merging them writes the same bytes as one run would.
#pragma once

#include <filesystem>
#include <vector>

#include "studies/reproduce/output/output.h"

namespace parley::reproduce {

/// Which figures of a reproduction these are: part `index` of `count`, from 1.
struct Part {
  uint64_t index = 1, count = 1;
  Reproduction reproduction{};
};

/// part.json in this folder.
Result<void> write_part(const Part& part, const std::filesystem::path& folder);
Result<Part> read_part(const std::filesystem::path& folder);

/// One reproduction of all its parts; an error names what is missing, doubled or does not belong.
Result<Reproduction> merged(const std::vector<std::filesystem::path>& folders);

}  // namespace parley::reproduce
