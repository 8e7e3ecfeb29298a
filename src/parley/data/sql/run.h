// Runs statements in a database in this process, for the child process of an owner (engine.h) and
// for tests. Errors never quote a value of a record.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "parley/base/result.h"
#include "parley/data/sql/record.h"
#include "parley/data/sql/statement.h"

namespace parley::data::sql {

/// One connection, and one snapshot from the first question to the last.
class Runner {
 public:
  virtual ~Runner() = default;
  /// What the owner's query gives.
  virtual Result<std::vector<TableColumn>> describe(const std::string& query) = 0;
  /// The integers of the statement's only row.
  virtual Result<std::vector<int64_t>> run(const std::string& text,
                                           const std::vector<Value>& values) = 0;
};

/// For reading only. While it is open in a file without a write-ahead log, nobody else can write.
Result<std::unique_ptr<Runner>> open_sqlite(const std::filesystem::path& file);
/// A read-only transaction, REPEATABLE READ.
Result<std::unique_ptr<Runner>> open_postgresql(const std::string& dsn);

}  // namespace parley::data::sql
