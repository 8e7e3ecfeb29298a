#include "parley/data/adbc/driver.h"

#include <dlfcn.h>

#include "parley/base/bytes.h"
#include "parley/base/files.h"
#include "parley/base/printable.h"

namespace parley::data {
namespace {

Error at_fault(const std::string& key, const std::string& what, std::string hint) {
  return {Code::kInvalid, what, std::move(hint), {.key = "dataset." + key}};
}

/// An error of a driver, released at the end.
class Said {
 public:
  Said() = default;
  Said(const Said&) = delete;
  Said& operator=(const Said&) = delete;
  ~Said() {
    if (error_.release != nullptr) error_.release(&error_);
  }
  AdbcError* get() { return &error_; }

  /// Its own words, in one line.
  std::string words() const {
    return error_.message != nullptr ? ": " + printable(error_.message) : "";
  }
  /// What tells nothing of a record.
  std::string code(AdbcStatusCode status) const {
    std::string text = " (ADBC status " + std::to_string(status);
    std::string state;
    for (const char c : error_.sqlstate)
      if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z')) state += c;
    return text + (state.size() == 5 ? ", SQLSTATE " + state : "") + ")";
  }

 private:
  AdbcError error_{};
};

Result<void> check_hash(const DriverSettings& settings) {
  if (settings.sha256.empty()) return {};
  const std::string found = to_hex(TRY(hash_file(settings.driver)));
  if (found == settings.sha256) return {};
  return Error{Code::kIntegrity,
               "the driver is not the one that the policy names: its SHA-256 is " + found,
               "Find out who changed it. If it was you, change driver_sha256.",
               {.file = settings.driver, .key = "dataset.driver_sha256"}};
}

Result<void> load_library(const DriverSettings& settings, AdbcDriver& driver) {
  TRY(check_hash(settings));
  void* library = dlopen(settings.driver.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* said = dlerror();
    return at_fault("driver", "cannot be loaded: " + printable(said == nullptr ? "" : said),
                    "Name the driver's shared library.");
  }
  const auto init = reinterpret_cast<AdbcDriverInit>(dlsym(library, settings.entry.c_str()));
  if (init == nullptr)
    return at_fault("entry", "the driver has no function " + in_quotes(settings.entry),
                    "Its manual names it; DuckDB's is duckdb_adbc_init.");
  Said said;
  if (const auto status = init(kAdbcVersion, &driver, said.get()); status != 0)
    return at_fault("driver", "does not start" + said.words() + said.code(status), "");
  if (driver.DatabaseNew == nullptr || driver.DatabaseSetOption == nullptr ||
      driver.DatabaseInit == nullptr || driver.ConnectionNew == nullptr ||
      driver.ConnectionInit == nullptr || driver.StatementNew == nullptr ||
      driver.StatementSetSqlQuery == nullptr || driver.StatementExecuteQuery == nullptr)
    return at_fault("driver", "lacks functions of ADBC 1.0.0", "Take another version of it.");
  return {};
}

/// The last words of a driver before any record is read: they may be quoted.
Error refuses(const std::string& key, const std::string& what, const Said& said,
              AdbcStatusCode status) {
  return at_fault(key, what + said.words() + said.code(status), "The driver's manual may help.");
}

}  // namespace

Result<std::unique_ptr<Driver>> Driver::open(const DriverSettings& settings) {
  std::unique_ptr<Driver> made(new Driver);
  AdbcDriver& driver = made->driver_;
  TRY(load_library(settings, driver));
  made->database_.private_driver = made->connection_.private_driver = &driver;
  Said said;
  if (const auto status = driver.DatabaseNew(&made->database_, said.get()); status != 0)
    return refuses("driver", "opens no database", said, status);
  for (const auto& [name, value] : settings.options) {
    Said about;
    if (const auto status =
            driver.DatabaseSetOption(&made->database_, name.c_str(), value.c_str(), about.get());
        status != 0)
      return refuses("options", "the driver refuses the option " + in_quotes(name), about, status);
  }
  if (const auto status = driver.DatabaseInit(&made->database_, said.get()); status != 0)
    return refuses("options", "the database does not open", said, status);
  if (const auto status = driver.ConnectionNew(&made->connection_, said.get()); status != 0)
    return refuses("options", "the driver makes no connection", said, status);
  if (const auto status = driver.ConnectionInit(&made->connection_, &made->database_, said.get());
      status != 0)
    return refuses("options", "the database does not answer", said, status);
  for (const std::string& statement : settings.setup) TRY(made->run(statement));
  return made;
}

Result<AdbcStatement> Driver::prepare(const std::string& sql) {
  AdbcStatement statement{nullptr, &driver_};
  Said said;
  if (const auto status = driver_.StatementNew(&connection_, &statement, said.get()); status != 0)
    return refuses("driver", "the driver makes no statement", said, status);
  if (const auto status = driver_.StatementSetSqlQuery(&statement, sql.c_str(), said.get());
      status != 0)
    return refuses("query", "the database refuses the query", said, status);
  return statement;
}

Result<void> Driver::run(const std::string& sql) {
  AdbcStatement statement = TRY(prepare(sql));
  Said said;
  const auto status = driver_.StatementExecuteQuery(&statement, nullptr, nullptr, said.get());
  if (status != 0) return refuses("setup", "the database refuses " + in_quotes(sql), said, status);
  if (driver_.StatementRelease != nullptr) driver_.StatementRelease(&statement, said.get());
  return {};
}

Result<Owned<ArrowArrayStream>> Driver::query(const std::string& sql) {
  AdbcStatement statement = TRY(prepare(sql));
  if (driver_.StatementPrepare != nullptr) {
    Said said;
    const auto status = driver_.StatementPrepare(&statement, said.get());
    if (status != 0 && status != kAdbcNotImplemented)
      return refuses("query", "the database refuses the query", said, status);
  }
  Said said;
  Owned<ArrowArrayStream> stream;
  const auto status = driver_.StatementExecuteQuery(&statement, stream.get(), nullptr, said.get());
  if (status != 0)
    return Error{Code::kFailed,
                 "the database fails at the query" + said.code(status),
                 "Try the query with the database's own tools; what it says may hold values of "
                 "records, and is not repeated here.",
                 {.key = "dataset.query"}};
  return stream;
}

}  // namespace parley::data
