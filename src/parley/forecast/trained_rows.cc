#include "parley/forecast/trained_rows.h"

#include <algorithm>

#include "parley/learn/federated/shrink.h"
#include "parley/plan/secagg_terms.h"

namespace parley::forecast {
namespace {

using charter::Charter;

size_t place_of(const Charter& charter, const std::string& owner) {
  const auto found = std::find_if(charter.owners.begin(), charter.owners.end(),
                                  [&](const charter::Owner& each) { return each.name == owner; });
  return static_cast<size_t>(found - charter.owners.begin());
}

bool contains(const std::vector<size_t>& members, size_t owner) {
  return std::find(members.begin(), members.end(), owner) != members.end();
}

}  // namespace

size_t label_holder(const Charter& charter) { return place_of(charter, charter.target_owner); }

std::vector<size_t> feature_owners(const Charter& charter) {
  std::vector<size_t> owners;
  for (size_t i = 0; i < charter.schema.columns.size(); ++i) {
    data::Schema one;
    one.columns = {charter.schema.columns[i]};
    owners.insert(owners.end(), one.features().size(), place_of(charter, charter.column_owners[i]));
  }
  if (charter.schema.bias) owners.push_back(label_holder(charter));
  return owners;
}

Charter charter_of(const Charter& charter, const std::vector<size_t>& members) {
  Charter group = charter;
  group.owners.clear(), group.column_owners.clear(), group.schema.columns.clear();
  for (const size_t member : members) group.owners.push_back(charter.owners[member]);
  for (size_t i = 0; i < charter.schema.columns.size(); ++i) {
    if (!contains(members, place_of(charter, charter.column_owners[i]))) continue;
    group.schema.columns.push_back(charter.schema.columns[i]);
    group.column_owners.push_back(charter.column_owners[i]);
  }
  group.schema.bias = charter.schema.bias && contains(members, label_holder(charter));
  return group;
}

SharedRows features_of(const Charter& charter, const data::Rows& rows,
                       const std::vector<size_t>& members) {
  const auto owners = feature_owners(charter);
  std::vector<size_t> kept;
  for (size_t j = 0; j < owners.size(); ++j)
    if (contains(members, owners[j])) kept.push_back(j);
  auto found = std::make_shared<data::Rows>(kept.size());
  std::vector<double> z(kept.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t k = 0; k < kept.size(); ++k) z[k] = rows.row(i)[kept[k]];
    found->add(z, rows.label(i));
  }
  return found;
}

SharedRows shortened_parts(const Charter& charter, const data::Rows& rows) {
  const auto owners = feature_owners(charter);
  auto found = std::make_shared<data::Rows>(rows.columns());
  std::vector<double> z(rows.columns());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row(i);
    for (size_t m = 0; m < charter.owners.size(); ++m) {
      std::vector<double> part;
      for (size_t j = 0; j < owners.size(); ++j)
        if (owners[j] == m) part.push_back(row[j]);
      const double by = learn::shrink_factor(part, charter.owners[m].max_row_norm);
      for (size_t j = 0; j < owners.size(); ++j)
        if (owners[j] == m) z[j] = by * row[j];
    }
    found->add(z, rows.label(i));
  }
  return found;
}

SharedRows as_trained(const charter::Charter& charter, const SharedRows& rows) {
  if (charter.columns_apart()) return shortened_parts(charter, *rows);
  const auto norm = plan::shrunk_to(charter);
  return norm ? std::get<SharedRows>(learn::shrunk(data::AnyRows(rows), *norm)) : rows;
}

std::vector<SharedRows> as_trained(const charter::Charter& charter,
                                   const std::vector<SharedRows>& many) {
  std::vector<SharedRows> found;
  for (const SharedRows& rows : many) found.push_back(as_trained(charter, rows));
  return found;
}

}  // namespace parley::forecast
