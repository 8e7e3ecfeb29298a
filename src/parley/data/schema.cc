#include "parley/data/schema.h"

#include <algorithm>
#include <set>

#include "parley/base/printable.h"
#include "parley/base/result.h"
#include "parley/data/rows.h"

namespace parley::data {
namespace {

const Column* named(const std::vector<Column>& columns, const std::string& name) {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const Column& column) { return column.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

std::vector<std::string> all_levels(const Column& column) {
  std::vector<std::string> all = column.levels;
  if (column.other) all.push_back("other");
  return all;
}

}  // namespace

std::string make_product(const std::vector<Column>& columns, Column& product) {
  const Column* factors[2] = {};
  if (product.product_of.size() != 2) return "needs two columns";
  for (size_t k = 0; k < 2; ++k) {
    const std::string& name = product.product_of[k];
    factors[k] = named(columns, name);
    if (factors[k] == nullptr)
      return "names " + in_quotes(name) + ", which no block before it describes";
    if (factors[k]->kind != Column::Kind::kCategory || factors[k]->is_product() ||
        factors[k]->encode != Column::Encode::kOneHot)
      return "names " + in_quotes(name) + ", which is no one_hot category";
  }
  if (factors[0] == factors[1]) return "names " + in_quotes(factors[0]->name) + " twice";
  if (factors[0]->level_count() * factors[1]->level_count() > kColumnsMax)
    return "makes more than 4096 levels";
  for (const std::string& a : all_levels(*factors[0]))
    for (const std::string& b : all_levels(*factors[1])) product.levels.push_back(a + "*" + b);
  if (std::set(product.levels.begin(), product.levels.end()).size() < product.levels.size())
    return "makes two levels of one name";
  // Where both have a level for everything else, no value is missing; it is the last pair.
  product.other = factors[0]->other && factors[1]->other;
  if (product.other) product.levels.pop_back();
  return "";
}

std::array<size_t, 2> Schema::factors_of(const Column& product) const {
  std::array<size_t, 2> places{};
  for (size_t k = 0; k < 2; ++k) {
    const Column* factor = named(columns, product.product_of[k]);
    check(factor != nullptr);
    places[k] = static_cast<size_t>(factor - columns.data());
  }
  return places;
}

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
