// A database opened through its ADBC driver. The driver is loaded into this process, which must be
// a child of the owner's process (rows.h). What is opened stays open until the process ends.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parley/base/result.h"
#include "parley/data/adbc/adbc.h"

namespace parley::data {

struct DriverSettings {
  std::string driver;                                          // a shared library
  std::string sha256{};                                        // that it must have; empty: any
  std::string entry{};                                         // the function that fills AdbcDriver
  std::vector<std::pair<std::string, std::string>> options{};  // of the database
  std::vector<std::string> setup{};                            // statements that come first
};

class Driver {
 public:
  static Result<std::unique_ptr<Driver>> open(const DriverSettings& settings);

  /// What a query gives. What the database says of the query's text is quoted, with kInvalid; what
  /// it says while it computes is not, since it may hold a value of a record.
  Result<Owned<ArrowArrayStream>> query(const std::string& sql);

 private:
  Driver() = default;
  Result<void> run(const std::string& sql);
  Result<AdbcStatement> prepare(const std::string& sql);

  AdbcDriver driver_{};
  AdbcDatabase database_{};
  AdbcConnection connection_{};
};

}  // namespace parley::data
