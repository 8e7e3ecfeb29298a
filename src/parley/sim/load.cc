#include "parley/sim/load.h"

#include <algorithm>
#include <utility>

#include "parley/base/files.h"
#include "parley/base/math/portable.h"
#include "parley/base/number.h"
#include "parley/learn/data/csv.h"
#include "parley/learn/preprocess/transform.h"
#include "parley/sim/standin/standin.h"

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

/// A generated row as a CSV reader would deliver it.
class StandinRows {
 public:
  StandinRows(const Standin& standin, const learn::Schema& schema)
      : standin_(standin), schema_(schema), values_(standin.columns.size()) {
    for (const learn::Column& column : schema.columns)
      places_.push_back(std::find(standin.columns.begin(), standin.columns.end(), column.name) -
                        standin.columns.begin());
    if (schema.bundle) transform_.emplace(*schema.bundle);
  }

  std::shared_ptr<const learn::Rows> read(uint64_t begin, uint64_t end) {
    auto rows = std::make_shared<learn::Rows>(schema_.features().size());
    rows->reserve(end - begin);
    std::vector<double> encoded(places_.size());
    std::vector<double> z(rows->columns(), 1.0);  // The bias, if any, stays 1.
    for (uint64_t row = begin; row < end; ++row) {
      double target = 0;
      standin_.draw(row, values_, target);
      for (size_t j = 0; j < encoded.size(); ++j) encoded[j] = number(j);
      const auto features = std::span(z).first(z.size() - schema_.bias);
      if (transform_)
        transform_->apply(encoded, features);
      else
        std::copy(encoded.begin(), encoded.end(), features.begin());
      rows->add(z, label(target));
    }
    return rows;
  }

 private:
  double number(size_t j) const {
    const learn::Column& column = schema_.columns[j];
    const double value = std::clamp(values_[places_[j]], column.low, column.high);
    return column.log ? portable_log1p(value) : value;
  }
  double label(double value) const {
    const learn::Target& target = schema_.target;
    if (!target.levels.empty()) return shortest(value) == target.levels[1] ? 1 : -1;
    return (std::clamp(value, target.low, target.high) - target.center) / target.scale;
  }

  const Standin& standin_;
  const learn::Schema& schema_;
  std::vector<double> values_;
  std::vector<size_t> places_{};
  std::optional<learn::Transform> transform_{};
};

Error wrong_columns(const std::string& name, const Standin& standin) {
  std::string names;
  for (const std::string& column : standin.columns) names += " " + column;
  return {Code::kInvalid,
          "the stand-in " + name + " has the columns" + names + ", all numbers, and the target " +
              standin.target + "; the charter has others",
          "Use these columns, or files with --data.",
          {.key = "column"}};
}

bool has_columns(const Standin& standin, const learn::Schema& schema) {
  const auto has = [&](const learn::Column& column) {
    return column.kind == learn::Column::Kind::kNumber &&
           std::count(standin.columns.begin(), standin.columns.end(), column.name) == 1;
  };
  const auto& levels = schema.target.levels;
  return std::all_of(schema.columns.begin(), schema.columns.end(), has) &&
         schema.target.column == standin.target &&
         (levels.empty() || levels == std::vector<std::string>{"0", "1"});
}

/// Features if the charter's columns are such, else what they are made of.
Result<Standin> standin_for(const Charter& charter, StandinOptions options) {
  for (bool raw : {false, true}) {
    options.raw = raw;
    Standin standin = TRY(make_standin(options));
    if (has_columns(standin, charter.schema)) return standin;
  }
  options.raw = false;
  return wrong_columns(options.name, TRY(make_standin(options)));
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
    auto rows = TRY(read_rows(file->second, input.charter.schema));
    input.owners.push_back({std::move(rows), file->second.filename().string()});
  }
  if (charter.pilot) input.pilot = TRY(read_pilot(input.charter, files));
  return input;
}

Result<SimulateInput> load_standin(const Charter& charter, const std::string& name, uint64_t seed) {
  StandinOptions options{.name = name, .seed = seed};
  for (const charter::Owner& owner : charter.owners)
    options.owners.push_back(static_cast<uint64_t>(owner.rows));
  options.components = static_cast<int>(std::clamp<size_t>(charter.schema.columns.size(), 1, 22));
  if (charter.pilot) options.pilot = static_cast<uint64_t>(charter.pilot->rows);
  const Standin standin = TRY(standin_for(charter, options));
  SimulateInput input{.charter = charter, .owners = {}, .pilot = nullptr, .policies = {}};
  const std::filesystem::path folders[] = {charter.folder};
  TRY(charter::load_bundle(input.charter, folders));
  StandinRows rows(standin, input.charter.schema);
  uint64_t begin = 0;
  for (uint64_t size : options.owners) {
    input.owners.push_back(
        {rows.read(begin, begin + size), "standin:" + name + " seed " + std::to_string(seed)});
    begin += size;
  }
  if (charter.pilot) input.pilot = rows.read(begin, standin.rows);
  return input;
}

}  // namespace parley::sim
