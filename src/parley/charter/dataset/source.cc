// From a policy's [[dataset]] to a source of records.
#include <glob.h>

#include <algorithm>
#include <fstream>
#include <span>

#include "parley/base/files.h"
#include "parley/charter/dataset/tables.h"
#include "parley/charter/policy.h"
#include "parley/data/sources/sqlite.h"

namespace parley::charter {
namespace {

Result<data::Source::Kind> kind_of(Source source) {
  using Kind = data::Source::Kind;
  switch (source) {
    case Source::kCsv:
      return Kind::kCsv;
    case Source::kLibsvm:
      return Kind::kLibsvm;
    case Source::kSqlite:
      return Kind::kSqlite;
    case Source::kPostgres:
      return Kind::kPostgres;
    case Source::kCommand:
      return Error{Code::kInvalid,
                   "its rows stay where they are, and this command must read them",
                   "Give the rows another way, for example as CSV.",
                   {.key = "dataset.source"}};
    case Source::kParquet:
    case Source::kAdbc:
      return Kind::kAdbc;
  }
  return check(false), Error{};
}

/// The last line's end is none of a password's.
Result<std::string> content_of(const std::filesystem::path& file) {
  std::string text = TRY(read_file(file, 1 << 20));
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

Result<data::AdbcSource> driver_of(const Policy& policy, const Dataset& data) {
  data::AdbcSource source{.query = data.query,
                          .order = data.unit_order,
                          .patience = std::chrono::seconds(policy.database_s)};
  source.driver = {.driver = (policy.folder / data.driver).string(),
                   .sha256 = data.driver_sha256 ? to_hex(*data.driver_sha256) : "",
                   .entry = data.entry,
                   .options = {data.options.begin(), data.options.end()},
                   .setup = data.setup};
  for (const auto& [name, file] : data.option_files)
    source.driver.options.emplace_back(name, TRY(content_of(policy.folder / file)));
  if (!data.dialect.empty()) source.dialect = data::sql::dialect_named(data.dialect);
  if (data.source == Source::kParquet) {
    source.driver.entry = data::kDuckdbEntry;
    source.query = data::parquet_query((policy.folder / data.path).string());
    source.dialect = data::sql::Dialect::kDuckdb;
  }
  // The rest is for rows. Less than this is not enough to load a large driver.
  source.memory_mb = std::max<uint64_t>(static_cast<uint64_t>(policy.memory_mb) / 4, 128);
  data::add_duckdb_options(source, static_cast<uint64_t>(policy.threads),
                           (policy.folder / policy.state).string());
  return source;
}

Error refused(const std::string& what, const std::string& column, int64_t records) {
  return {Code::kPolicy,
          what + ", and the policy caps the records of one " + column,
          "Agree on a charter with privacy.unit naming that column and unit_records up to " +
              std::to_string(records) + ", or take [dataset.unit] out of the policy.",
          {.key = "privacy.unit"}};
}

/// Whose records are capped. Two different units cannot be (see data::UnitCap), and a cap under a
/// charter that promises something about single records would make one record decide whether
/// others count, which its noise does not cover.
Result<std::optional<data::UnitCap>> unit_cap(const Dataset& data, const Charter& charter) {
  const Privacy& privacy = charter.privacy;
  const bool capped = !data.unit_column.empty();
  if (privacy.unit == "record") {
    if (capped)
      return refused("the charter's privacy unit is a record", data.unit_column,
                     data.unit_records.value_or(1));
    return std::optional<data::UnitCap>();
  }
  const auto renamed = data.columns.find(privacy.unit);
  const std::string& column = renamed == data.columns.end() ? privacy.unit : renamed->second;
  if (capped && column != data.unit_column)
    return refused("the charter's privacy unit is " + in_quotes(privacy.unit), data.unit_column,
                   data.unit_records.value_or(1));
  const int64_t most =
      std::min(privacy.unit_records, data.unit_records.value_or(privacy.unit_records));
  return std::optional(data::UnitCap{column, static_cast<uint64_t>(most)});
}

/// The tables of a query, or the whole query where these cannot be read.
std::string tables_in(const std::string& query) {
  const auto tables = tables_of(query);
  if (!tables) return query;
  std::string list;
  for (const std::string& table : *tables) list += (list.empty() ? "" : ", ") + table;
  return list;
}

/// Of its first bytes: rows that are added later, and a copy with some more, leave them as they
/// are.
std::vector<Hash> digests_of(const std::filesystem::path& file) {
  constexpr std::streamsize kHead = 64 << 10;
  std::ifstream in(file, std::ios::binary);
  Bytes head(kHead);
  in.read(reinterpret_cast<char*>(head.data()), kHead);
  if (in.gcount() == 0) return {};
  return {sha256(ByteView(head).first(static_cast<size_t>(in.gcount())))};
}

/// Of each file that a pattern names, up to a hundred.
std::vector<Hash> digests_by(const std::filesystem::path& pattern) {
  constexpr size_t kFiles = 100;
  glob_t found{};
  std::vector<Hash> digests;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (const char* file : std::span(found.gl_pathv, std::min(found.gl_pathc, kFiles)))
      for (const Hash& digest : digests_of(file)) digests.push_back(digest);
  ::globfree(&found);
  return digests;
}

}  // namespace

Result<Place> records_at(const Policy& policy, const Dataset& data) {
  const std::string kind(name_of(data.source));
  if (data.source == Source::kPostgres)
    return Place{kind + " " + data.dsn + ": " + tables_in(data.query), {}};
  if (data.source == Source::kCommand) {
    std::string program;
    for (const std::string& word : data.command) program += word + " ";
    return Place{kind + " " + program + ": " + tables_in(data.query), {}};
  }
  if (data.source == Source::kAdbc) {
    std::string database;
    for (const auto& [name, value] : data.options) database += name + "=" + value + " ";
    return Place{kind + " " + database + ": " + tables_in(data.query), {}};
  }
  std::error_code failed;
  const auto path = std::filesystem::weakly_canonical(
      std::filesystem::absolute(policy.folder / data.path, failed), failed);
  if (failed)
    return Error{Code::kInvalid, "is not a usable path", "Check it.", {.file = data.path.string()}};
  if (data.source == Source::kSqlite)
    return Place{kind + " " + path.string() + ": " + tables_in(data.query),
                 data::sqlite_digests(path, data.query)};
  if (data.source == Source::kParquet) return Place{kind + " " + path.string(), digests_by(path)};
  return Place{kind + " " + path.string(), digests_of(path)};
}

Result<data::Selection> selection_of(const Policy& policy, const Dataset& data,
                                     const Charter& charter) {
  data::Selection select{.columns = data.columns, .where = data.where};
  select.unit = TRY(unit_cap(data, charter));
  for (const Owner& owner : charter.owners)
    if (owner.name == policy.owner) select.rows = static_cast<uint64_t>(owner.rows);
  return select;
}

Result<data::Source> source_of(const Policy& policy, const Dataset& data, const Charter& charter) {
  data::Source source;
  source.kind = TRY(kind_of(data.source));
  source.path = data.path.empty() ? data.path : policy.folder / data.path;
  source.dsn = data.dsn;
  source.query = data.query;
  source.separator = data.separator.front();
  source.decimal = data.decimal.front();
  source.header = data.header;
  source.select = TRY(selection_of(policy, data, charter));
  auto megabytes = static_cast<uint64_t>(policy.memory_mb);
  if (source.kind == data::Source::Kind::kAdbc) {
    source.adbc = TRY(driver_of(policy, data));
    megabytes -= std::min(source.adbc.memory_mb, megabytes / 2);
  }
  source.select.memory = data::memory_for_rows(megabytes, policy.folder / policy.state);
  source.unpacked_bytes_max = static_cast<uint64_t>(policy.unpacked_gb * 0x1p30);
  return source;
}

}  // namespace parley::charter
