// The file of trees: a list of nodes, columns and thresholds per tree, and of the leaves' values.
#include <nlohmann/json.hpp>

#include "parley/base/json_object.h"
#include "parley/data/trees/trees.h"

namespace parley::data {
namespace {

using Json = nlohmann::json;  // Keys sorted.

constexpr std::string_view kTreesFormat = "parley.trees/1";

Json json_of(const Tree& tree) {
  Json at = Json::array(), column = Json::array(), threshold = Json::array();
  for (const Tree::Split& split : tree.splits) {
    at.push_back(split.at);
    column.push_back(split.column);
    threshold.push_back(split.threshold);
  }
  return {{"at", at}, {"column", column}, {"threshold", threshold}, {"value", tree.values}};
}

Result<Tree> tree_of(const JsonObject& object) {
  std::vector<uint64_t> at, column;
  std::vector<double> threshold;
  Tree tree;
  TRY(object.get("at", at));
  TRY(object.get("column", column));
  TRY(object.get("threshold", threshold));
  TRY(object.get("value", tree.values));
  if (column.size() != at.size()) return object.error("column", "must be one per node");
  if (threshold.size() != at.size()) return object.error("threshold", "must be one per node");
  for (size_t k = 0; k < at.size(); ++k) tree.splits.push_back({at[k], column[k], threshold[k]});
  return tree;
}

}  // namespace

Json json_of(const Trees& trees) {
  Json list = Json::array();
  for (const Tree& tree : trees.trees) list.push_back(json_of(tree));
  return {{"format", kTreesFormat},
          {"columns", trees.columns},
          {"base", trees.base},
          {"trees", std::move(list)}};
}

std::string to_json(const Trees& trees) { return canonical_json(json_of(trees)) + "\n"; }

Result<Trees> trees_of(const JsonObject& object) {
  std::string format;
  TRY(object.get("format", format));
  if (format != kTreesFormat)
    return object.error("format",
                        "is not " + std::string(kTreesFormat) + ", which this Parley reads");
  Trees trees;
  TRY(object.get("columns", trees.columns));
  TRY(object.get("base", trees.base));
  const std::vector<JsonObject> list = TRY(object.objects("trees"));
  if (list.size() > kTreesMax) return object.error("trees", "must be at most 1000");
  for (const JsonObject& tree : list) trees.trees.push_back(TRY(tree_of(tree)));
  if (const auto fault = fault_of(trees)) return object.error(fault->key, fault->what);
  return trees;
}

Result<Trees> trees_from_json(std::string_view text, const std::string& file) {
  if (text.size() > kTreesTextMax)
    return Error{Code::kInvalid,
                 "is longer than any file of trees, 4 MiB",
                 "Is this a file of trees?",
                 {.file = file}};
  Trees trees;
  TRY(read_json(text, file, "Is this a file of trees, and all of it?",
                [&](const JsonObject& object) -> Result<void> {
                  trees = TRY(trees_of(object));
                  return {};
                }));
  if (to_json(trees) != text)
    return Error{Code::kInvalid,
                 "is not as Parley writes trees",
                 "The file was edited: get it as it was made.",
                 {.file = file}};
  return trees;
}

}  // namespace parley::data
