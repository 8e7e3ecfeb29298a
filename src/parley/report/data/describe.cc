#include "parley/report/data/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"
#include "parley/report/provenance.h"
#include "parley/report/table.h"

namespace parley::report {
namespace {

using Json = nlohmann::ordered_json;
using data::ColumnProfile, data::Profile;

constexpr auto kPrivate =
    "PRIVATE: these figures come from the records themselves and are not noised. Show them to "
    "nobody "
    "unless the file is public.";
constexpr size_t kLevelsShown = 4;

std::string word(ColumnProfile::Kind kind) {
  constexpr const char* kWords[] = {"empty", "number", "category", "text"};
  return kWords[static_cast<size_t>(kind)];
}

std::string distinct(const ColumnProfile& column) {
  const bool all = column.distinct < ColumnProfile::kDistinct;
  return (all ? "" : "over ") + grouped(column.distinct);
}

double missing_share(const ColumnProfile& column, const Profile& profile) {
  return profile.rows == 0 ? 0 : double(column.missing) / double(profile.rows);
}

std::string values(const ColumnProfile& column) {
  if (column.kind() == ColumnProfile::Kind::kNumber)
    return significant(column.low, 6) + " to " + significant(column.high, 6) + ", median " +
           significant(column.quantile(.5), 6);
  if (column.kind() != ColumnProfile::Kind::kCategory) return "";
  std::vector<std::pair<std::string, uint64_t>> levels(column.levels.begin(), column.levels.end());
  std::stable_sort(levels.begin(), levels.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (size_t i = 0; i < std::min(levels.size(), kLevelsShown); ++i)
    text += (i > 0 ? ", " : "") + levels[i].first.substr(0, 30);
  return text + (levels.size() > kLevelsShown ? ", ..." : "");
}

Json json_of(const ColumnProfile& column, const Profile& profile) {
  Json json = {{"name", column.name},
               {"kind", word(column.kind())},
               {"missing", missing_share(column, profile)},
               {"distinct", column.distinct},
               {"distinct_is_exact", column.distinct < ColumnProfile::kDistinct},
               {"unique", column.identity()},
               {"bounds", nullptr},
               {"median", nullptr},
               {"levels", nullptr}};
  if (column.kind() == ColumnProfile::Kind::kNumber) {
    json["bounds"] = {column.low, column.high};
    json["median"] = column.quantile(.5);
  }
  if (column.kind() == ColumnProfile::Kind::kCategory) json["levels"] = column.levels;
  return json;
}

}  // namespace

std::string to_text(const std::vector<DescribedFile>& files) {
  std::string text;
  for (const auto& [file, profile] : files) {
    text += fmt::format("{}: {} rows, {} columns\n\n", file, grouped(profile.rows),
                        profile.columns.size());
    std::vector<std::vector<std::string>> rows = {
        {"column", "kind", "missing", "distinct", "values"}};
    for (const ColumnProfile& column : profile.columns)
      rows.push_back({column.name, word(column.kind()),
                      fmt::format("{:.1f} %", 100 * missing_share(column, profile)),
                      distinct(column), values(column)});
    text += table(rows) + "\n";
  }
  return text + kPrivate + "\n";
}

std::string to_json(const std::vector<DescribedFile>& files) {
  Json json = {{"format", "parley.describe/1"},
               {"parley", provenance()},
               {"private", true},
               {"note", kPrivate},
               {"files", Json::array()}};
  for (const auto& [file, profile] : files) {
    Json columns = Json::array();
    for (const ColumnProfile& column : profile.columns) columns.push_back(json_of(column, profile));
    json["files"].push_back({{"file", file}, {"rows", profile.rows}, {"columns", columns}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace parley::report
