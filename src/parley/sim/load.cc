#include "parley/sim/load.h"

#include <algorithm>
#include <utility>

#include "parley/base/files.h"
#include "parley/charter/available.h"
#include "parley/sim/lending.h"

namespace parley::sim {
namespace {

using charter::Charter;

using SharedRows = std::shared_ptr<const learn::Rows>;

Result<SharedRows> read_pilot(const Charter& charter,
                              const std::vector<std::filesystem::path>& folders) {
  const charter::Pilot& pilot = *charter.pilot;
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
    learn::Source source = learn::source_of(file);
    source.select.rows = static_cast<uint64_t>(pilot.rows);
    return std::make_shared<const learn::Rows>(TRY(learn::load(source, charter.schema)).rows);
  }
  return Error{Code::kInvalid,
               "the pilot " + pilot.file + " was not found",
               "Put it beside the charter or into the data folder.",
               {.key = "pilot.file"}};
}

Result<SimulateInput> start(const Charter& charter) {
  if (charter.preprocess)
    return charter::not_available("preprocess.bundle", charter.preprocess->bundle,
                                  "Give data with the features themselves as columns.");
  return SimulateInput{.charter = charter, .owners = {}, .pilot = nullptr, .policies = {}};
}

Error wrong_columns(const Lending& lending) {
  std::string names;
  for (const std::string& name : lending.feature_names()) names += " " + name;
  return {Code::kInvalid,
          "the stand-in lending has the columns" + names + " and the target " + kLendingTarget +
              ", the charter has others",
          "Use the columns of examples/three-banks.charter.toml, or files with --data.",
          {.key = "column"}};
}

/// Rows [begin, end) of the stand-in as a CSV reader would deliver them.
std::shared_ptr<const learn::Rows> lending_rows(const Lending& lending, const Charter& charter,
                                                uint64_t begin, uint64_t end) {
  const learn::Schema& schema = charter.schema;
  auto rows = std::make_shared<learn::Rows>(schema.features().size());
  rows->reserve(end - begin);
  std::vector<double> z(schema.features().size(), 1.0);  // The bias, if any, stays 1.
  for (uint64_t row = begin; row < end; ++row) {
    double rate = 0;
    lending.features(row, std::span(z).first(lending.components()), rate);
    for (size_t j = 0; j < lending.components(); ++j)
      z[j] = std::clamp(z[j], schema.columns[j].low, schema.columns[j].high);
    const double value = std::clamp(rate, schema.target.low, schema.target.high);
    rows->add(z, (value - schema.target.center) / schema.target.scale);
  }
  return rows;
}

}  // namespace

learn::Source owner_file(const std::filesystem::path& file, const Charter& charter,
                         const std::string& owner) {
  learn::Source source = learn::source_of(file);
  const charter::Privacy& privacy = charter.privacy;
  if (privacy.unit != "record")
    source.select.unit = {privacy.unit, static_cast<uint64_t>(privacy.unit_records)};
  for (const charter::Owner& each : charter.owners)
    if (each.name == owner) source.select.rows = static_cast<uint64_t>(each.rows);
  return source;
}

DataSources files_in(const std::filesystem::path& folder, const Charter& charter) {
  DataSources sources{.owners = {}, .pilot_folders = {folder, charter.folder}};
  for (const charter::Owner& owner : charter.owners) {
    std::filesystem::path file = folder / (owner.name + ".csv");
    for (const char* ending : {".csv.zst", ".libsvm", ".libsvm.zst"})
      if (!std::filesystem::exists(file) && std::filesystem::exists(folder / (owner.name + ending)))
        file = folder / (owner.name + ending);
    sources.owners[owner.name] = owner_file(file, charter, owner.name);
  }
  return sources;
}

Result<SimulateInput> load_sources(const Charter& charter, const DataSources& sources) {
  SimulateInput input = TRY(start(charter));
  for (const charter::Owner& owner : charter.owners) {
    const auto source = sources.owners.find(owner.name);
    if (source == sources.owners.end())
      return Error{Code::kInvalid, "no data for " + owner.name,
                   "Add --data " + owner.name + "=FILE, its --policy, or give a folder with " +
                       owner.name + ".csv in it."};
    auto loaded = TRY(learn::load(source->second, charter.schema));
    input.owners.push_back({std::make_shared<const learn::Rows>(std::move(loaded.rows)),
                            learn::name_of(source->second)});
  }
  if (charter.pilot) input.pilot = TRY(read_pilot(charter, sources.pilot_folders));
  return input;
}

Result<SimulateInput> load_split(const Charter& charter, const std::filesystem::path& file,
                                 const std::string& by) {
  DataSources sources{.owners = {}, .pilot_folders = {file.parent_path(), charter.folder}};
  uint64_t begin = 0;
  for (const charter::Owner& owner : charter.owners) {
    learn::Source source = owner_file(file, charter, owner.name);
    const uint64_t end = begin + static_cast<uint64_t>(owner.rows);
    if (by.empty())
      source.select.block = learn::Block{begin, end};
    else
      source.select.where = {.column = by, .values = {owner.name}, .by_name = true};
    begin = end;
    sources.owners[owner.name] = std::move(source);
  }
  return load_sources(charter, sources);
}

Result<SimulateInput> load_lending(const Charter& charter, uint64_t seed) {
  uint64_t total = 0;
  for (const charter::Owner& owner : charter.owners) total += static_cast<uint64_t>(owner.rows);
  LendingOptions options{.rows = total, .seed = seed};
  options.components = static_cast<int>(charter.schema.columns.size());
  if (charter.pilot) options.pilot = static_cast<uint64_t>(charter.pilot->rows);
  if (charter.privacy.unit != "record")
    return Error{Code::kInvalid,
                 "the stand-in lending has no column of units",
                 "Take privacy.unit = \"record\", or files with --data.",
                 {.key = "privacy.unit"}};
  const Lending lending = TRY(Lending::make(options));
  std::vector<std::string> names;
  for (const learn::Column& column : charter.schema.columns) names.push_back(column.name);
  if (names != lending.feature_names() || charter.schema.target.column != kLendingTarget)
    return wrong_columns(lending);
  SimulateInput input{.charter = charter, .owners = {}, .pilot = nullptr, .policies = {}};
  uint64_t begin = 0;
  for (const charter::Owner& owner : charter.owners) {
    const uint64_t end = begin + static_cast<uint64_t>(owner.rows);
    input.owners.push_back({lending_rows(lending, charter, begin, end),
                            "standin:lending seed " + std::to_string(seed)});
    begin = end;
  }
  if (charter.pilot) input.pilot = lending_rows(lending, charter, total, lending.rows());
  return input;
}

}  // namespace parley::sim
