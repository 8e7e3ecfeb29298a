// Loads the data of a simulation: files of the owners and the pilot, or generated data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "parley/data/sources/source.h"
#include "parley/sim/simulate.h"

namespace parley::sim {

/// Where each owner's records lie, and which folders may hold what is public: pilot and bundle.
struct DataSources {
  std::map<std::string, data::Source> owners;
  std::vector<std::filesystem::path> public_folders;
  data::CsvSigns pilot_signs{};
};

/// What `owner` would use of the source under the charter: so many rows, units capped.
data::Source owner_source(data::Source source, const charter::Charter& charter,
                          const std::string& owner);
data::Source owner_file(const std::filesystem::path& file, const charter::Charter& charter,
                        const std::string& owner, const data::CsvSigns& signs = {});

/// <folder>/<owner>.csv or .libsvm, perhaps with .zst, for every owner of the charter, and the
/// pilot and bundle there or beside the charter.
DataSources files_in(const std::filesystem::path& folder, const charter::Charter& charter,
                     const data::CsvSigns& signs = {});

/// Reads every source by the charter's schema. The pilot's hash must be the charter's.
Result<SimulateInput> load_sources(const charter::Charter& charter, const DataSources& sources);

/// <folder>/<owner>.csv and so on for every owner, as in files_in: rows to judge by.
Result<void> load_fresh(SimulateInput& input, const std::filesystem::path& folder,
                        const data::CsvSigns& signs = {});

/// One file that holds the rows of all owners. Without `by` they are consecutive blocks, as long as
/// the charter says, in its order; with it, a row belongs to the owner whose name its value in that
/// column makes (data::name_from). Rows of nobody are left out. Reads the file once per owner.
DataSources split_file(const charter::Charter& charter, const std::filesystem::path& file,
                       const std::string& by, const data::CsvSigns& signs = {});

/// Stand-in data: the owners hold consecutive blocks, the pilot is what follows. The charter's
/// columns must be among the stand-in's, features or raw; its pilot file is not read.
Result<SimulateInput> load_standin(const charter::Charter& charter, const std::string& name,
                                   uint64_t seed);

}  // namespace parley::sim
