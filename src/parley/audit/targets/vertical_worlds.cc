#include "parley/audit/targets/vertical_worlds.h"

#include <memory>
#include <utility>

namespace parley::audit {

charter::Charter narrowed(charter::Charter charter, size_t records) {
  charter.records->count = static_cast<int64_t>(records);
  const int64_t bits = charter.protocol.without_dealer() ? learn::kUsualBits : 0;
  charter.schema.bias = false;
  charter.schema.columns.clear();
  charter.column_owners.clear();
  for (charter::Owner& owner : charter.owners) {
    owner.rows = charter.records->count;
    for (size_t j = 0; j < kColumns; ++j) {
      charter.schema.columns.push_back(
          {.name = owner.name + std::to_string(j), .low = -1, .high = 1, .cell = bits});
      charter.column_owners.push_back(owner.name);
    }
  }
  return charter;
}

TwoWorlds with_rows(charter::Charter charter, plan::VerticalTerms terms, const RowOf& row,
                    const LabelOf& label) {
  TwoWorlds worlds{std::move(charter), std::move(terms)};
  for (const World world : {World::kFirst, World::kSecond})
    for (const double norm : worlds.terms.plan.row_norms) {
      auto rows = std::make_shared<data::Rows>(kColumns);
      for (size_t i = 0; i < worlds.terms.plan.rows; ++i)
        rows->add(row(norm, i, world), label(i, world));
      worlds.rows[world == World::kSecond].emplace_back(std::shared_ptr<const data::Rows>(rows));
    }
  return worlds;
}

}  // namespace parley::audit
