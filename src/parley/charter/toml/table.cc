#include "parley/charter/toml/table.h"

#include <numeric>

namespace parley::charter {
namespace {

/// Levenshtein's distance: letters to add, take away or change.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, diagonal + 1, changed});
    }
  }
  return row.back();
}

/// "Did you mean epsilon?", or the list of known keys where none is near.
std::string suggestion(std::string_view key, const std::set<std::string, std::less<>>& known) {
  constexpr size_t kLongest = 40;  // No key is longer; the distance to a novel is of no interest.
  std::string list, nearest;
  size_t best = 2 + key.size() / 4;
  for (const std::string& candidate : known) {
    list += (list.empty() ? "" : ", ") + candidate;
    const size_t away = key.size() > kLongest ? best : distance(key, candidate);
    if (away < best) best = away, nearest = candidate;
  }
  return nearest.empty() ? "The keys here are " + list + "." : "Did you mean " + nearest + "?";
}

bool is_bare(std::string_view key) {
  return key.size() <= 60 && key.find_first_not_of(
                                 "abcdefghijklmnopqrstuvwxyz"
                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789-_") == std::string_view::npos;
}

}  // namespace

const Value* Table::find(std::string_view key) const {
  const auto& members = *value_->get<Value::Members>();
  const auto found = members.find(key);
  return found == members.end() ? nullptr : &found->second;
}

size_t Table::count(std::string_view key) const {
  const Value* found = find(key);
  const auto* items = found ? found->get<Value::Items>() : nullptr;
  return items ? items->size() : 0;
}

std::string Table::path_of(std::string_view key) const {
  return path_ + (path_.empty() ? "" : ".") + std::string(key);
}

void Table::write(std::string_view key, std::string json) {
  if (!json.empty()) json_[std::string(key)] = std::move(json);
}

void Table::report(Error error) {
  if (!findings_->first) findings_->first = std::move(error);
}

void Table::fail(std::string_view key, const std::string& what, std::string_view hint) {
  const Value* found = find(key);
  report({Code::kInvalid, std::string(key) + " " + what, std::string(hint),
          (found ? found : value_)->where(path_of(key))});
}

void Table::miss(std::string_view key, std::string_view hint) {
  if (!missing_)
    missing_ = {Code::kInvalid, std::string(key) + " is missing", std::string(hint),
                value_->where(path_of(key))};
}

void Table::table(std::string_view key, const Read& read) {
  if (table_if_given(key, read)) return;
  const Value empty{.data = Value::Members{}, .file = value_->file};
  Table inner(empty, path_of(key), *findings_);
  read(inner);
  write(key, inner.finish());
}

bool Table::table_if_given(std::string_view key, const Read& read) {
  known_.emplace(key);
  const Value* found = find(key);
  if (!found) return false;
  if (!found->get<Value::Members>()) {
    fail(key, "must be a table, found " + describe(*found),
         "Write it as [" + path_of(key) + "] on a line of its own.");
    return true;
  }
  Table inner(*found, path_of(key), *findings_);
  read(inner);
  write(key, inner.finish());
  return true;
}

void Table::each(std::string_view key, Count count, std::string_view hint, const Read& read) {
  known_.emplace(key);
  const size_t found = this->count(key);
  if (has(key) && !find(key)->get<Value::Items>())
    return fail(key, "must be a list of blocks, found " + describe(*find(key)), hint);
  if (found < count.low)
    return report({Code::kInvalid, std::string(key) + " is missing", std::string(hint),
                   value_->where(path_of(key))});
  if (found > count.high)
    return fail(key,
                "may appear at most " + std::to_string(count.high) + " times, found " +
                    std::to_string(found),
                hint);
  std::string json;
  for (size_t i = 0; i < found && !findings_->first; ++i) {
    const Value& item = (*find(key)->get<Value::Items>())[i];
    if (!item.get<Value::Members>())
      return fail(key, "must hold tables, found " + describe(item), hint);
    Table inner(item, path_of(key) + "[" + std::to_string(i) + "]", *findings_);
    read(inner);
    json += (json.empty() ? "" : ",") + inner.finish();
  }
  write(key, "[" + json + "]");
}

void Table::only(std::initializer_list<std::string_view> keys) {
  known_.insert(keys.begin(), keys.end());
  complain_about_unknown_keys();
}

std::string Table::finish() {
  complain_about_unknown_keys();
  if (missing_) report(*missing_);
  return json_object(json_);
}

void Table::complain_about_unknown_keys() {
  for (const auto& [key, value] : *value_->get<Value::Members>()) {
    if (known_.contains(key)) continue;
    const std::string shown = is_bare(key) ? key : in_quotes(key);
    Where where = value.where(path_of(shown));
    where.line = value.key_place.line, where.column = value.key_place.column;
    return report({Code::kInvalid, "unknown key " + shown, suggestion(key, known_), where});
  }
}

}  // namespace parley::charter
