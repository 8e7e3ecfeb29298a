#include "parley/data/intake.h"

#include <algorithm>
#include <limits>

namespace parley::data {
namespace {

Error error_at(Where where, std::string key, std::string what, std::string hint) {
  where.key = std::move(key);
  return {Code::kInvalid, std::move(what), std::move(hint), std::move(where)};
}

}  // namespace

Error wrong_number_of_rows(uint64_t expected, uint64_t found) {
  return {Code::kInvalid,
          "holds " + std::to_string(found) + " rows, the charter says " + std::to_string(expected),
          "Give the data the charter was written for, or agree on a new charter."};
}

std::string name_from(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool small = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool capital = c >= 'A' && c <= 'Z';
    if (small || capital)
      name += capital ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  if (name.ends_with('-')) name.pop_back();
  return name;
}

Intake::Intake(const Schema& schema, const Selection& selection, char decimal, bool labels)
    : selection_(selection),
      encoder_(schema, decimal, labels),
      rows_(encoder_.features(), selection.memory),
      rows_max_(selection.rows.value_or(std::numeric_limits<uint64_t>::max())),
      block_(selection.block),
      record_(encoder_.wanted().size()) {
  counts_.columns.resize(schema.columns.size() + 1);
}

Result<void> Intake::take_header(const std::vector<std::string>& names,
                                 const std::function<Where(size_t)>& where) {
  const auto find = [&](const std::string& name) -> Result<size_t> {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      return error_at(where(0), name, "the data has no such column",
                      names.size() == 1
                          ? "It has one column only: is the separator right?"
                          : "Check the names of the columns, and `columns` of the policy.");
    const auto again = std::find(found + 1, names.end(), name);
    if (again != names.end())
      return error_at(where(again - names.begin()), name, "the data has this column twice",
                      "Rename or remove one of them.");
    positions_.push_back(found - names.begin());
    return positions_.back();
  };
  for (const std::string& wanted : encoder_.wanted()) {
    const auto renamed = selection_.columns.find(wanted);
    TRY(find(renamed == selection_.columns.end() ? wanted : renamed->second));
  }
  if (!selection_.id.empty()) {
    const auto renamed = selection_.columns.find(selection_.id);
    id_ = TRY(find(renamed == selection_.columns.end() ? selection_.id : renamed->second));
  }
  if (selection_.where) where_ = TRY(find(selection_.where->column));
  if (selection_.unit) unit_ = TRY(find(selection_.unit->column));
  return {};
}

bool Intake::passes(const Cell& cell) {
  const RowFilter& filter = *selection_.where;
  std::string_view text = text_of(cell, scratch_);
  if (filter.by_name) text = scratch_ = name_from(text);
  const bool listed =
      std::find(filter.values.begin(), filter.values.end(), text) != filter.values.end();
  return listed != filter.exclude;
}

bool Intake::within_cap(const Cell& cell) {
  const std::string_view unit = text_of(cell, scratch_);
  if (unit.empty()) return ++counts_.without_unit, false;
  if (++of_unit_[std::string(unit)] <= selection_.unit->records) return true;
  return ++counts_.over_cap, false;
}

Result<CountedRows> Intake::finish() && {
  if (failure()) return *failure();
  if (selection_.rows && counts_.rows != *selection_.rows)
    return wrong_number_of_rows(*selection_.rows, counts_.rows);
  return CountedRows{std::move(rows_), std::move(counts_), std::move(ids_)};
}

}  // namespace parley::data
