#include "parley/sim/load.h"

#include <algorithm>
#include <utility>

#include "parley/base/files.h"
#include "parley/learn/data/csv.h"
#include "parley/sim/lending.h"

namespace parley::sim {
namespace {

using charter::Charter;

Result<std::shared_ptr<const learn::Rows>> read_rows(const std::filesystem::path& file,
                                                     const learn::Schema& schema) {
  return std::make_shared<const learn::Rows>(TRY(learn::read_csv(file, schema)));
}

Result<std::shared_ptr<const learn::Rows>> read_pilot(const Charter& charter,
                                                      const DataFiles& files) {
  const charter::Pilot& pilot = *charter.pilot;
  for (const std::filesystem::path& folder : files.public_folders) {
    const std::filesystem::path file = folder / pilot.file;
    if (!std::filesystem::exists(file)) continue;
    const Hash hash = TRY(hash_file(file));
    if (hash != pilot.sha256)
      return Error{Code::kIntegrity,
                   "is not the charter's pilot: its SHA-256 is " + to_hex(hash),
                   "Everybody must use the same public rows: get the file whose hash the charter "
                   "names, or agree on a new charter.",
                   {.file = file.string(), .key = "pilot.sha256"}};
    auto rows = TRY(read_rows(file, charter.schema));
    if (static_cast<int64_t>(rows->size()) != pilot.rows)
      return Error{Code::kInvalid,
                   "holds " + std::to_string(rows->size()) + " rows, the charter says " +
                       std::to_string(pilot.rows),
                   "Correct pilot.rows.",
                   {.file = file.string(), .key = "pilot.rows"}};
    return rows;
  }
  return Error{Code::kInvalid,
               "the pilot " + pilot.file + " was not found",
               "Put it beside the charter or into the data folder.",
               {.key = "pilot.file"}};
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

DataFiles files_in(const std::filesystem::path& folder, const Charter& charter) {
  DataFiles files{.owners = {}, .public_folders = {folder, charter.folder}};
  for (const charter::Owner& owner : charter.owners)
    files.owners[owner.name] = folder / (owner.name + ".csv");
  return files;
}

Result<SimulateInput> load_files(const Charter& charter, const DataFiles& files) {
  SimulateInput input{.charter = charter, .owners = {}, .pilot = nullptr, .policies = {}};
  TRY(charter::load_bundle(input.charter, files.public_folders));
  for (const charter::Owner& owner : charter.owners) {
    const auto file = files.owners.find(owner.name);
    if (file == files.owners.end())
      return Error{Code::kInvalid, "no data for " + owner.name,
                   "Add --data " + owner.name + "=FILE, or give a folder with " + owner.name +
                       ".csv in it."};
    input.owners.push_back(
        {TRY(read_rows(file->second, input.charter.schema)), file->second.filename().string()});
  }
  if (charter.pilot) input.pilot = TRY(read_pilot(input.charter, files));
  return input;
}

Result<SimulateInput> load_lending(const Charter& charter, uint64_t seed) {
  uint64_t total = 0;
  for (const charter::Owner& owner : charter.owners) total += static_cast<uint64_t>(owner.rows);
  LendingOptions options{.rows = total, .seed = seed};
  options.components = static_cast<int>(charter.schema.columns.size());
  if (charter.pilot) options.pilot = static_cast<uint64_t>(charter.pilot->rows);
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
