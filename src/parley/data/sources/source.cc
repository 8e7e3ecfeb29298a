#include "parley/data/sources/source.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "parley/data/readers/csv.h"
#include "parley/data/readers/csv_signs.h"
#include "parley/data/sources/postgres.h"
#include "parley/data/sources/sparse_cells.h"
#include "parley/data/sources/sqlite.h"
#include "parley/data/sources/table.h"

namespace parley::data {
namespace {

Result<LibsvmOptions> libsvm_options(const Source& source, const LoadOptions& options) {
  const Selection& select = source.select;
  if (select.where || select.block || select.unit || !select.columns.empty() || !select.id.empty())
    return Error{
        Code::kInvalid,
        "a LIBSVM file has no column names, so nothing can be renamed, filtered, capped or "
        "aligned by one",
        "Leave these out, or keep the data as CSV or in a database.",
        {.file = source.path.string()}};
  return LibsvmOptions{.labels = options.labels,
                       .rows = select.rows,
                       .memory = select.memory,
                       .unpacked_bytes_max = source.unpacked_bytes_max};
}

/// An error that names the file.
Result<CountedRows> named(const Source& source, Result<CountedRows> rows) {
  if (rows || !rows.error().where.file.empty()) return rows;
  Error error = rows.error();
  error.where.file = source.path.empty() ? source.adbc.driver.driver : source.path.string();
  return error;
}

}  // namespace

Source source_of(const std::filesystem::path& file, const CsvSigns& signs) {
  const auto inner = file.extension() == ".zst" ? file.stem() : file.filename();
  const auto ending = inner.extension();
  const bool libsvm = ending == ".libsvm" || ending == ".svm" || ending == ".svmlight";
  Source source;
  source.kind = libsvm ? Source::Kind::kLibsvm : Source::Kind::kCsv;
  source.path = file;
  const CsvSigns found = libsvm ? CsvSigns{} : signs_of(file, signs);
  source.separator = found.separator;
  source.decimal = found.decimal;
  return source;
}

Source source_of(Table table) {
  Source source;
  source.kind = Source::Kind::kTable;
  source.table = std::make_shared<const Table>(std::move(table));
  return source;
}

Source source_of(std::shared_ptr<const Cells> cells) {
  Source source;
  source.kind = Source::Kind::kCells;
  source.cells = std::move(cells);
  return source;
}

Result<CountedRows> load(const Source& source, const Schema& schema, const LoadOptions& options) {
  switch (source.kind) {
    case Source::Kind::kCsv:
      return read_csv_counted(source.path, schema,
                              {.separator = source.separator,
                               .decimal = source.decimal,
                               .labels = options.labels,
                               .header = source.header,
                               .select = source.select,
                               .unpacked_bytes_max = source.unpacked_bytes_max});
    case Source::Kind::kLibsvm:
      return read_libsvm(source.path, schema, TRY(libsvm_options(source, options)));
    case Source::Kind::kSqlite:
      return read_sqlite(source.path, source.query, schema, source.select, options.labels);
    case Source::Kind::kPostgres:
      return read_postgres(source.dsn, source.query, schema, source.select, options.labels);
    case Source::Kind::kAdbc:
      return named(source, read_adbc(source.adbc, schema, source.select, options.labels));
    case Source::Kind::kTable:
      return read_table(*source.table, schema, source.select, options.labels);
    case Source::Kind::kCells:
      return read_cells(*source.cells, schema, source.select, options.labels);
  }
  return check(false), Error{};
}

Result<CountedSparseRows> load_sparse(const Source& source, const Schema& schema,
                                      const LoadOptions& options) {
  if (source.kind != Source::Kind::kLibsvm)
    return Error{Code::kInvalid, "only LIBSVM files are read as sparse rows",
                 "Read this source as dense rows."};
  return read_libsvm_sparse(source.path, schema, TRY(libsvm_options(source, options)));
}

Result<CountedAnyRows> load_any(const Source& source, const Schema& schema,
                                const LoadOptions& options) {
  if (source.kind == Source::Kind::kCells)
    if (const auto* cells = stays_sparse(*source.cells, schema, source.select)) {
      auto loaded = TRY(read_sparse_cells(*cells, schema, source.select, options.labels));
      return CountedAnyRows{std::make_shared<const SparseRows>(std::move(loaded.rows)),
                            std::move(loaded.counts)};
    }
  const bool sparse = source.kind == Source::Kind::kLibsvm &&
                      std::all_of(schema.columns.begin(), schema.columns.end(),
                                  [](const Column& c) { return c.low <= 0 && c.high >= 0; });
  if (sparse) {
    auto loaded = TRY(load_sparse(source, schema, options));
    return CountedAnyRows{std::make_shared<const SparseRows>(std::move(loaded.rows)),
                          std::move(loaded.counts)};
  }
  auto loaded = TRY(load(source, schema, options));
  return CountedAnyRows{std::make_shared<const Rows>(std::move(loaded.rows)),
                        std::move(loaded.counts), std::move(loaded.ids)};
}

MemoryLimit memory_for_rows(uint64_t megabytes, const std::filesystem::path& folder) {
  return {.bytes = (megabytes << 20) / 4 * 3, .folder = folder};
}

std::string name_of(const Source& source) {
  switch (source.kind) {
    case Source::Kind::kCsv:
    case Source::Kind::kLibsvm:
    case Source::Kind::kSqlite:
      return source.path.filename().string();
    case Source::Kind::kPostgres:
      return "postgres";
    case Source::Kind::kAdbc:
      return source.path.empty() ? "adbc" : source.path.filename().string();
    case Source::Kind::kTable:
    case Source::Kind::kCells:
      return "memory";
  }
  return check(false), "";
}

}  // namespace parley::data
