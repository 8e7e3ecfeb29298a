#include "parley/learn/sharing/aligned_rows.h"

#include <utility>

namespace parley::learn {
namespace {

AnyRows picked(const Rows& rows, std::span<const uint64_t> order) {
  auto out = std::make_shared<Rows>(rows.columns());
  for (const uint64_t i : order) out->add(rows.row(i), rows.label(i));
  return std::shared_ptr<const Rows>(out);
}

AnyRows picked(const SparseRows& rows, std::span<const uint64_t> order) {
  auto out = std::make_shared<SparseRows>(rows.columns());
  for (const uint64_t i : order) out->add(rows.row_indices(i), rows.row_values(i), rows.label(i));
  return std::shared_ptr<const SparseRows>(out);
}

Error wrong_count(const Source& source, const std::string& id, const Alignment& found,
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

AnyRows rows_in_order(const AnyRows& rows, std::span<const uint64_t> order) {
  return std::visit([&](const auto& kind) { return picked(*kind, order); }, rows);
}

Result<AlignedRows> load_aligned(Source source, const Schema& schema, bool labels,
                                 const std::string& id, const Secret32& key, uint64_t count) {
  source.select.rows.reset();  // Counted below, where it is known which rows have an id.
  source.select.id = id;
  const auto loaded = TRY(load_any(source, schema, {.labels = labels}));
  Alignment alignment = align(loaded.ids, key);
  if (alignment.rows.size() != count) return wrong_count(source, id, alignment, count);
  AnyRows rows = rows_in_order(loaded.rows, alignment.rows);
  return AlignedRows{std::move(rows), std::move(alignment)};
}

}  // namespace parley::learn
