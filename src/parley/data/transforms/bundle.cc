#include "parley/data/transforms/bundle.h"

#include "parley/data/schema.h"

namespace parley::data {
namespace {

std::vector<std::string> numbered(const char* stem, size_t count) {
  std::vector<std::string> names;
  for (size_t i = 1; i <= count; ++i) names.push_back(stem + std::to_string(i));
  return names;
}

/// The features without leaves.
std::vector<std::string> of_columns(const Bundle& bundle) {
  if (bundle.fourier) return numbered("rff", bundle.fourier->features);
  if (bundle.rotate) return numbered("pc", bundle.rotate->explained.size());
  std::vector<std::string> names;
  for (uint64_t column : bundle.select) names.push_back(bundle.encoded[column]);
  return names;
}

}  // namespace

std::vector<std::string> Bundle::features() const {
  std::vector<std::string> names = of_columns(*this);
  if (!trees) return names;
  const std::vector<std::string> leaves = trees->trees.level_names();
  names.insert(names.end(), leaves.begin(), leaves.end());
  return names;
}

Hash columns_hash(const Schema& schema) {
  TupleBytes bytes;
  for (const Column& column : schema.columns) {
    bytes.add(column.name).add(uint64_t(column.kind)).add(column.strip);
    if (column.kind == Column::Kind::kNumber) {
      bytes.add(column.low).add(column.high).add(column.missing).add(uint64_t{column.log});
      continue;
    }
    bytes.add(uint64_t(column.encode)).add(uint64_t{column.other}).add(column.levels.size());
    for (const std::string& level : column.levels) bytes.add(level);
    for (const std::string& factor : column.product_of) bytes.add(factor);
  }
  return bytes.sha256();
}

Hash hash_of(const Bundle& bundle) { return sha256(as_bytes(to_json(bundle))); }

Result<void> check_fits(const Bundle& bundle, const Schema& schema) {
  if (bundle.made_from.columns == columns_hash(schema) && bundle.encoded == schema.encoded())
    return {};
  return Error{Code::kInvalid,
               "the bundle was made for other columns than these",
               "After a change of [[column]] blocks run `parley data prepare` again.",
               {.key = "made_from.columns_sha256"}};
}

}  // namespace parley::data
