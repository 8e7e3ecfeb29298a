// The data of a simulation: files of the owners and the pilot, or a stand-in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "parley/sim/simulate.h"

namespace parley::sim {

/// Where each owner's CSV file lies, and which folders may hold what is public: pilot and bundle.
struct DataFiles {
  std::map<std::string, std::filesystem::path> owners;
  std::vector<std::filesystem::path> public_folders;
};

/// <folder>/<owner>.csv for every owner of the charter, and pilot and bundle there or beside the
/// charter.
DataFiles files_in(const std::filesystem::path& folder, const charter::Charter& charter);

/// Reads every file by the charter's schema. The pilot's hash must be the charter's.
Result<SimulateInput> load_files(const charter::Charter& charter, const DataFiles& files);

/// Stand-in data: the owners hold consecutive blocks, the pilot is what follows. The charter's
/// columns must be among the stand-in's, features or raw; its pilot file is not read.
Result<SimulateInput> load_standin(const charter::Charter& charter, const std::string& name,
                                   uint64_t seed);

}  // namespace parley::sim
