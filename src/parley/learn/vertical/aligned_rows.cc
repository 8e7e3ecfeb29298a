#include "parley/learn/vertical/aligned_rows.h"

#include <algorithm>
#include <utility>

namespace parley::learn {
namespace {

data::AnyRows picked(const data::Rows& rows, std::span<const uint64_t> order) {
  auto out = std::make_shared<data::Rows>(rows.columns());
  for (const uint64_t i : order) out->add(rows.row(i), rows.label(i));
  return std::shared_ptr<const data::Rows>(out);
}

data::AnyRows picked(const data::SparseRows& rows, std::span<const uint64_t> order) {
  auto out = std::make_shared<data::SparseRows>(rows.columns());
  for (const uint64_t i : order) out->add(rows.row_indices(i), rows.row_values(i), rows.label(i));
  return std::shared_ptr<const data::SparseRows>(out);
}

Error wrong_count(const data::Source& source, const std::string& id, const Alignment& found,
                  uint64_t count) {
  return {Code::kInvalid,
          "holds " + std::to_string(found.rows.size()) +
              " records with an id of their own, the charter says " + std::to_string(count) + "; " +
              std::to_string(found.missing) + " rows have no " + id + ", " +
              std::to_string(found.repeated) + " repeat one",
          "Every party must bring the same records, each once.",
          {.file = name_of(source), .key = id}};
}

}  // namespace

data::AnyRows rows_in_order(const data::AnyRows& rows, std::span<const uint64_t> order) {
  return std::visit([&](const auto& kind) { return picked(*kind, order); }, rows);
}

Result<AlignedRows> load_aligned(data::Source source, const data::Schema& schema, bool labels,
                                 const std::string& id, const Secret32& key, uint64_t count,
                                 bool more) {
  source.select.rows.reset();  // Counted below, where it is known which rows have an id.
  source.select.id = id;
  const auto loaded = TRY(data::load_any(source, schema, {.labels = labels}));
  Alignment alignment = align(loaded.ids, key);
  const size_t found = alignment.rows.size();
  if (found < count || (found > count && !more)) return wrong_count(source, id, alignment, count);
  data::AnyRows rows = rows_in_order(loaded.rows, alignment.rows);
  return AlignedRows{std::move(rows), std::move(alignment)};
}

Result<void> check_common(size_t found, uint64_t count) {
  if (found == count) return {};
  return Error{Code::kInvalid,
               "the parties have " + std::to_string(found) +
                   " records in common, the charter says " + std::to_string(count),
               "Agree on a charter with records.count = " + std::to_string(found) + ".",
               {.key = "records.count"}};
}

Result<AlignedRows> common_rows(const AlignedRows& own,
                                std::span<const std::vector<IdDigest>> lists, uint64_t count) {
  Alignment common = intersected(own.alignment, lists);
  TRY(check_common(common.digests.size(), count));
  std::vector<uint64_t> order;
  for (const IdDigest& digest : common.digests) {
    const auto& all = own.alignment.digests;
    order.push_back(uint64_t(std::lower_bound(all.begin(), all.end(), digest) - all.begin()));
  }
  return AlignedRows{rows_in_order(own.rows, order), std::move(common)};
}

}  // namespace parley::learn
