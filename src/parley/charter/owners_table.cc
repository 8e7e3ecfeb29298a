// [owners]: a CSV file that stands for many [[owner]] blocks.
#include <algorithm>

#include "parley/base/files.h"
#include "parley/base/math/number.h"
#include "parley/charter/sections.h"
#include "parley/data/readers/csv_records.h"

namespace parley::charter {
namespace {

constexpr size_t kColumnsMax = 16;

std::string_view trimmed(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t\r"), text.size());
  const size_t end = text.find_last_not_of(" \t\r");
  return end == std::string_view::npos ? "" : text.substr(begin, end + 1 - begin);
}

/// A cell as the value that TOML would have had there.
Value cell_value(std::string_view cell, std::string_view column, const Value& row) {
  Value value = row;
  const bool text = column == "name" || column == "sign_key";
  if (const auto number = parse_number(cell); number && !text)
    value.data = *number;
  else
    value.data = std::string(cell);
  return value;
}

using File = std::shared_ptr<const std::string>;

/// A row of the owners' table as an [[owner]] block that knows its line; empty cells are left out.
Value owner_block(const data::CsvRecord& record, const std::vector<std::string>& header,
                  const File& file) {
  const auto place = [&](size_t i) {
    return Position{record.where(i).line, record.where(i).column};
  };
  Value block{.data = Value::Members{}, .file = file, .place = place(0)};
  for (size_t i = 0; i < record.size(); ++i) {
    const std::string_view cell = trimmed(record[i]);
    if (cell.empty()) continue;
    const Value at{.data = {}, .file = file, .place = place(i), .key_place = place(i)};
    block.get<Value::Members>()->emplace(header[i], cell_value(cell, header[i], at));
  }
  return block;
}

Error table_error(const data::CsvRecord& record, size_t field, const std::string& what) {
  return {Code::kInvalid, what,
          "The first line names keys of an [[owner]] block, then one owner a line.",
          record.where(field)};
}

Result<std::vector<std::string>> header_of(const data::CsvRecord& record) {
  if (record.size() > kColumnsMax) return table_error(record, 0, "more than 16 columns");
  std::vector<std::string> header;
  for (size_t i = 0; i < record.size(); ++i) {
    const std::string name(trimmed(record[i]));
    if (std::find(header.begin(), header.end(), name) != header.end())
      return table_error(record, i, "column " + in_quotes(name) + " appears twice");
    header.push_back(name);
  }
  return header;
}

Result<Value::Items> read_blocks(const std::string& csv, const File& file) {
  std::vector<std::string> header;
  Value::Items blocks;
  data::CsvRecords records(',', [&](const data::CsvRecord& record) -> Result<void> {
    if (header.empty()) {
      header = TRY(header_of(record));
      return {};
    }
    if (record.size() != header.size())
      return table_error(record, 0,
                         "the row has " + std::to_string(record.size()) + " fields, the header " +
                             std::to_string(header.size()));
    if (blocks.size() == kOwnersMax) return table_error(record, 0, "more than 1,000,000 owners");
    blocks.push_back(owner_block(record, header, file));
    return {};
  });
  TRY(records.feed(csv));
  TRY(records.end());
  return blocks;
}

Result<Value::Items> read_owners_table(const std::string& csv, const std::string& file_name) {
  Result<Value::Items> blocks = read_blocks(csv, std::make_shared<const std::string>(file_name));
  if (blocks) return blocks;
  Error error = blocks.error();
  error.where.file = file_name;
  return error;
}

}  // namespace

Result<void> insert_owners_table(Value& document, const std::filesystem::path& folder) {
  auto& members = *document.get<Value::Members>();
  if (!members.contains("owners")) return {};
  std::string name;
  Hash expected{};
  Findings findings;
  Table root(document, "", findings);
  if (root.has("owner"))
    root.fail("owners", "cannot stand beside [[owner]] blocks", "Keep one of the two.");
  root.table("owners", [&](Table& t) {
    t.required("file", name, file_beside, "Name the table, for example file = \"owners.csv\".");
    t.required("sha256", expected, Anything{}, "Take it from sha256sum of the table.");
  });
  if (findings.first) return *findings.first;
  const std::filesystem::path path = folder / name;
  const std::string csv = TRY(read_file(path, kFileBytesMax));
  const Value at = members.extract("owners").mapped();
  if (const Hash found = sha256(as_bytes(csv)); found != expected)
    return Error{Code::kIntegrity, "the table's SHA-256 is " + to_hex(found),
                 "Get the table the parties agreed on, or agree on a new charter.",
                 (*at.get<Value::Members>()).at("sha256").where("owners.sha256")};
  Value owners{.data = TRY(read_owners_table(csv, path.string())), .file = at.file};
  members.insert_or_assign("owner", std::move(owners));
  return {};
}

}  // namespace parley::charter
