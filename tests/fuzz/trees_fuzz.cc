// No text crashes the reader of trees or a lookup in what it accepts; that has one text only.
#include <cmath>
#include <string_view>

#include "parley/data/trees/leaves.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace parley;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto trees = data::trees_from_json(text, "fuzz.json");
  if (!trees) return check(!trees.error().what.empty()), 0;
  check(data::to_json(*trees) == text);
  const data::Leaves leaves(*trees);
  std::vector<double> record(leaves.columns()), features(leaves.levels());
  std::vector<uint8_t> found(leaves.trees());
  for (size_t j = 0; j < record.size(); ++j) record[j] = j % 3 == 2 ? NAN : double(j);
  check(std::isfinite(leaves.score(record)));
  leaves.one_hot(record, 1, features);
  leaves.find(record, found);
  for (size_t t = 0; t < found.size(); ++t) check(found[t] < trees->trees[t].leaves());
  return 0;
}
