#include <algorithm>
#include <optional>
#include <utility>

#include "parley/base/math/number.h"
#include "parley/base/math/portable.h"
#include "parley/data/transforms/transform.h"
#include "parley/sim/load.h"
#include "parley/sim/standin/standin.h"

namespace parley::sim {
namespace {

using charter::Charter;

/// A generated row as a CSV reader would deliver it.
class StandinRows {
 public:
  StandinRows(const Standin& standin, const data::Schema& schema)
      : standin_(standin), schema_(schema), values_(standin.columns.size()) {
    for (const data::Column& column : schema.columns)
      places_.push_back(std::find(standin.columns.begin(), standin.columns.end(), column.name) -
                        standin.columns.begin());
    if (schema.bundle) transform_.emplace(*schema.bundle);
  }

  std::shared_ptr<const data::Rows> read(uint64_t begin, uint64_t end) {
    auto rows = std::make_shared<data::Rows>(schema_.features().size());
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
    const data::Column& column = schema_.columns[j];
    const double value = std::clamp(values_[places_[j]], column.low, column.high);
    return column.log ? portable_log1p(value) : value;
  }
  double label(double value) const {
    const data::Target& target = schema_.target;
    if (!target.levels.empty()) return shortest(value) == target.levels[1] ? 1 : -1;
    return (std::clamp(value, target.low, target.high) - target.center) / target.scale;
  }

  const Standin& standin_;
  const data::Schema& schema_;
  std::vector<double> values_;
  std::vector<size_t> places_{};
  std::optional<data::Transform> transform_{};
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

bool has_columns(const Standin& standin, const data::Schema& schema) {
  const auto has = [&](const data::Column& column) {
    return column.kind == data::Column::Kind::kNumber &&
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

Result<SimulateInput> load_standin(const Charter& charter, const std::string& name, uint64_t seed) {
  StandinOptions options{.name = name, .seed = seed};
  for (const charter::Owner& owner : charter.owners)
    options.owners.push_back(static_cast<uint64_t>(owner.rows));
  options.components = static_cast<int>(std::clamp<size_t>(charter.schema.columns.size(), 1, 22));
  if (charter.pilot) options.pilot = static_cast<uint64_t>(charter.pilot->rows);
  if (charter.privacy.unit != "record")
    return Error{Code::kInvalid,
                 "the stand-in " + name + " has no column of units",
                 "Take privacy.unit = \"record\", or files with --data.",
                 {.key = "privacy.unit"}};
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
