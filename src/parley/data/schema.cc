#include "parley/data/schema.h"

namespace parley::data {

std::vector<std::string> Schema::encoded() const {
  std::vector<std::string> names;
  for (const Column& column : columns) {
    const bool one_hot =
        column.kind == Column::Kind::kCategory && column.encode == Column::Encode::kOneHot;
    if (!one_hot) names.push_back(column.name);
    if (!one_hot) continue;
    for (const std::string& level : column.levels) names.push_back(column.name + "=" + level);
    if (column.other) names.push_back(column.name + "=other");
  }
  return names;
}

std::optional<size_t> Schema::bias_at() const {
  if (!bias) return std::nullopt;
  return features().size() - 1;
}

std::vector<std::string> Schema::features() const {
  std::vector<std::string> names = bundle ? bundle->features() : encoded();
  if (bias) names.push_back("bias");
  return names;
}

}  // namespace parley::data
