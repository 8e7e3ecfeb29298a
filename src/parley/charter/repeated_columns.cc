// [[column]] blocks with `count`: many columns of one kind in one block.
#include <string>

#include "parley/charter/sections.h"
#include "parley/data/rows.h"

namespace parley::charter {
namespace {

Error wrong_count(const Value& count, size_t block) {
  std::string found = describe(count);
  return {Code::kInvalid, "must be a whole number from 1 to 4096, found " + std::move(found),
          "count = 123 stands for 123 columns, name1 to name123.",
          count.where("column[" + std::to_string(block) + "].count")};
}

/// The columns that `block` stands for.
Result<void> expand(const Value& block, size_t number, Value::Items& columns) {
  const auto* members = block.get<Value::Members>();
  const auto count = members ? members->find("count") : Value::Members::const_iterator{};
  if (!members || count == members->end()) return columns.push_back(block), Result<void>();
  const auto* many = count->second.get<int64_t>();
  const auto room = static_cast<int64_t>(data::kColumnsMax);
  if (!many || *many < 1 || *many > room) return wrong_count(count->second, number);
  for (int64_t i = 1; i <= *many && columns.size() <= data::kColumnsMax; ++i) {
    Value& column = columns.emplace_back(block);
    Value::Members& own = *column.get<Value::Members>();
    own.erase("count");
    if (const auto name = own.find("name"); name != own.end())
      if (auto* text = name->second.get<std::string>()) *text += std::to_string(i);
  }
  return {};
}

}  // namespace

Result<void> expand_repeated_columns(Value& document) {
  auto* root = document.get<Value::Members>();
  const auto found = root->find("column");
  auto* blocks = found == root->end() ? nullptr : found->second.get<Value::Items>();
  if (blocks == nullptr) return {};  // Whoever reads the section says what is wrong.
  Value::Items columns;
  for (size_t i = 0; i < blocks->size(); ++i) TRY(expand((*blocks)[i], i, columns));
  *blocks = std::move(columns);
  return {};
}

}  // namespace parley::charter
