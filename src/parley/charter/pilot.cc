#include <map>

#include "parley/base/files.h"
#include "parley/charter/charter.h"
#include "parley/data/sources/source.h"

namespace parley::charter {

namespace {

/// Sites by number, in the order in which they first come.
std::vector<uint32_t> numbered(const std::vector<std::string>& names) {
  std::map<std::string, uint32_t> known;
  std::vector<uint32_t> found;
  for (const std::string& name : names)
    found.push_back(known.try_emplace(name, static_cast<uint32_t>(known.size())).first->second);
  return found;
}

}  // namespace

Result<std::shared_ptr<const data::Rows>> load_pilot(const Charter& charter,
                                                     std::span<const std::filesystem::path> folders,
                                                     const data::CsvSigns& signs) {
  return TRY(load_public_rows(charter, folders, signs)).rows;
}

Result<PublicRows> load_public_rows(const Charter& charter,
                                    std::span<const std::filesystem::path> folders,
                                    const data::CsvSigns& signs) {
  if (!charter.pilot) return PublicRows();
  const Pilot& pilot = *charter.pilot;
  for (const std::filesystem::path& folder : folders) {
    const std::filesystem::path file = folder / pilot.file;
    if (!std::filesystem::exists(file)) continue;
    const Hash hash = TRY(hash_file(file));
    if (hash != pilot.sha256)
      return Error{Code::kIntegrity,
                   "is not the charter's pilot: its SHA-256 is " + to_hex(hash),
                   "Everybody must use the same public rows: get the file whose hash the charter "
                   "names, or agree on a new charter.",
                   {.file = file.string(), .key = "pilot.sha256"}};
    data::Source source = data::source_of(file, signs);
    source.select.rows = static_cast<uint64_t>(pilot.rows);
    source.select.id = pilot.group;
    auto loaded = TRY(data::load(source, charter.schema));
    return PublicRows{std::make_shared<data::Rows>(std::move(loaded.rows)), numbered(loaded.ids)};
  }
  return Error{Code::kInvalid,
               "the pilot " + pilot.file + " was not found",
               "Put it beside the charter or into the data folder.",
               {.key = "pilot.file"}};
}

}  // namespace parley::charter
