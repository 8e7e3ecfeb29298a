#include "parley/sim/load.h"

#include <algorithm>
#include <utility>

#include "parley/learn/vertical/aligned_rows.h"
#include "parley/plan/vertical_terms.h"
#include "parley/protocol/vertical/setting.h"

namespace parley::sim {

using charter::Charter;

data::Source owner_file(const std::filesystem::path& file, const Charter& charter,
                        const std::string& owner, const data::CsvSigns& signs) {
  return owner_source(data::source_of(file, signs), charter, owner);
}

data::Source owner_source(data::Source source, const Charter& charter, const std::string& owner) {
  const charter::Privacy& privacy = charter.privacy;
  if (privacy.unit != "record")
    source.select.unit = {privacy.unit, static_cast<uint64_t>(privacy.unit_records)};
  for (const charter::Owner& each : charter.owners)
    if (each.name == owner) source.select.rows = static_cast<uint64_t>(each.rows);
  return source;
}

namespace {

/// <folder>/<owner>.csv, or with another ending if only that is there.
std::filesystem::path file_of(const std::filesystem::path& folder, const std::string& owner) {
  for (const char* ending : {".csv", ".csv.zst", ".libsvm", ".libsvm.zst"})
    if (std::filesystem::exists(folder / (owner + ending))) return folder / (owner + ending);
  return folder / (owner + ".csv");
}

}  // namespace

DataSources files_in(const std::filesystem::path& folder, const Charter& charter,
                     const data::CsvSigns& signs) {
  DataSources sources{.owners = {}, .public_folders = {folder, charter.folder}};
  for (const charter::Owner& owner : charter.owners)
    sources.owners[owner.name] =
        owner_file(file_of(folder, owner.name), charter, owner.name, signs);
  return sources;
}

namespace {

Result<data::Source> source_of_owner(const DataSources& sources, const std::string& owner) {
  const auto source = sources.owners.find(owner);
  if (source != sources.owners.end()) return source->second;
  return Error{Code::kInvalid, "no data for " + owner,
               "Add --data " + owner + "=FILE, its --policy, or give a folder with " + owner +
                   ".csv in it."};
}

/// The columns of every owner, in one order, and only of records that all of them hold.
Result<void> load_columns(const Charter& charter, const DataSources& sources,
                          SimulateInput& input) {
  const bool more = charter.records->on_mismatch == charter::OnMismatch::kIntersect;
  const auto count = static_cast<uint64_t>(charter.records->count);
  std::vector<learn::AlignedRows> all;
  std::vector<std::vector<learn::IdDigest>> lists;
  for (const charter::Owner& owner : charter.owners) {
    const data::Source source = TRY(source_of_owner(sources, owner.name));
    const size_t place = all.size();
    all.push_back(TRY(learn::load_aligned(source, plan::part_schema(charter, place),
                                          plan::holds_label(charter, place), charter.records->id,
                                          protocol::alignment_key(charter.hash), count, more)));
    lists.push_back(all.back().alignment.digests);
    input.owners.push_back({all.back().rows, data::name_of(source), {}});
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (more) all[i] = TRY(learn::common_rows(all[i], lists, count));
    input.owners[i].rows = all[i].rows;
    input.owners[i].records = all[i].alignment.hash();
  }
  return {};
}

}  // namespace

Result<SimulateInput> load_sources(const Charter& charter, const DataSources& sources) {
  SimulateInput input{.charter = charter, .owners = {}, .pilot = nullptr, .policies = {}};
  TRY(charter::load_bundle(input.charter, sources.public_folders));
  if (charter.records) {
    TRY(load_columns(charter, sources, input));
  } else {
    for (const charter::Owner& owner : charter.owners) {
      const data::Source source = TRY(source_of_owner(sources, owner.name));
      auto loaded = TRY(data::load_any(source, input.charter.schema));
      input.owners.push_back({std::move(loaded.rows), data::name_of(source)});
    }
  }
  input.pilot =
      TRY(charter::load_pilot(input.charter, sources.public_folders, sources.pilot_signs));
  return input;
}

Result<void> load_fresh(SimulateInput& input, const std::filesystem::path& folder,
                        const data::CsvSigns& signs) {
  for (size_t i = 0; i < input.owners.size(); ++i) {
    const auto file = file_of(folder, input.charter.owners[i].name);
    input.owners[i].fresh =
        TRY(data::load_any(data::source_of(file, signs), input.charter.schema)).rows;
  }
  return {};
}

DataSources split_file(const Charter& charter, const std::filesystem::path& file,
                       const std::string& by, const data::CsvSigns& signs) {
  DataSources sources{.owners = {}, .public_folders = {file.parent_path(), charter.folder}};
  uint64_t begin = 0;
  for (const charter::Owner& owner : charter.owners) {
    data::Source source = owner_file(file, charter, owner.name, signs);
    const uint64_t end = begin + static_cast<uint64_t>(owner.rows);
    if (charter.records)
      ;  // Its columns are in the same rows.
    else if (by.empty())
      source.select.block = data::Block{begin, end};
    else
      source.select.where = {.column = by, .values = {owner.name}, .by_name = true};
    begin = end;
    sources.owners[owner.name] = std::move(source);
  }
  return sources;
}

}  // namespace parley::sim
