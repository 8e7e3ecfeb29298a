#include "parley/report/data/reading.h"

#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"
#include "parley/report/provenance.h"
#include "parley/report/table.h"

namespace parley::report {
namespace {

using Json = nlohmann::ordered_json;

std::string columns_table(const Description& description) {
  std::vector<std::vector<std::string>> rows{{"column", "moved to a bound", "replaced"}};
  const auto& counts = description.counts.columns;
  const auto add = [&](const std::string& name, const data::Counts::Column& column) {
    if (column.out_of_bounds + column.replaced > 0)
      rows.push_back({name, grouped(column.out_of_bounds), grouped(column.replaced)});
  };
  for (size_t i = 0; i + 1 < counts.size(); ++i) add(description.schema.columns[i].name, counts[i]);
  add(description.schema.target.column + " (target)", counts.back());
  return rows.size() == 1 ? "Every cell was used as it stands.\n" : table(rows);
}

}  // namespace

std::string to_text(const Description& description) {
  const data::Counts& counts = description.counts;
  std::string text = "For the owner only: these counts depend on what the records contain.\n";
  text += description.source + ": " + grouped(counts.rows) + " rows";
  if (description.charter_rows && *description.charter_rows != counts.rows)
    text += ", and the charter says " + grouped(*description.charter_rows);
  text += "\n";
  const auto line = [&](uint64_t count, const std::string& what) {
    if (count > 0) text += grouped(count) + " " + what + "\n";
  };
  line(counts.left_out, "more were left out by the policy's row filter");
  line(counts.over_cap, "of them count as nothing: their " + description.unit + " has its most");
  line(counts.without_unit, "of them count as nothing: they name no " + description.unit);
  line(counts.ignored, "values lie past the charter's last column and are ignored");
  return text + columns_table(description);
}

std::string to_json(const Description& description) {
  const data::Counts& counts = description.counts;
  Json json = {{"format", "parley.reading/1"},
               {"parley", provenance()},
               {"for", "the owner only"},
               {"source", description.source},
               {"rows", counts.rows},
               {"charter_rows", nullptr},
               {"left_out", counts.left_out},
               {"over_unit_records", counts.over_cap},
               {"without_unit", counts.without_unit},
               {"ignored", counts.ignored},
               {"out_of_bounds", counts.out_of_bounds()},
               {"replaced", counts.replaced()},
               {"columns", Json::array()}};
  if (description.charter_rows) json["charter_rows"] = *description.charter_rows;
  for (size_t i = 0; i < counts.columns.size(); ++i) {
    const bool target = i + 1 == counts.columns.size();
    const data::Schema& schema = description.schema;
    json["columns"].push_back({{"name", target ? schema.target.column : schema.columns[i].name},
                               {"out_of_bounds", counts.columns[i].out_of_bounds},
                               {"replaced", counts.columns[i].replaced}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace parley::report
