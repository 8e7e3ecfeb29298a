#include "parley/ledger/storage/sqlite.h"

#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

namespace parley::ledger {
namespace {

constexpr int kBusyMilliseconds = 2000;  // A reader that recovers the log holds it for a moment.

Code code_of(int result) {
  switch (result & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_CANTOPEN:
    case SQLITE_FULL:
    case SQLITE_INTERRUPT:
    case SQLITE_IOERR:
    case SQLITE_LOCKED:
    case SQLITE_NOLFS:
    case SQLITE_NOMEM:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_TOOBIG:
      return Code::kFailed;
    default:  // Our SQL is right, so the file is not what it must be.
      return Code::kIntegrity;
  }
}

const char* hint_of(int result) {
  switch (result & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "Stop the other program that writes to this file.";
    case SQLITE_FULL:
    case SQLITE_IOERR:
      return "Make room on the disk or check it, then try again; nothing was recorded.";
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return "Check the permissions of the file and of its folder.";
    case SQLITE_NOMEM:
    case SQLITE_INTERRUPT:
    case SQLITE_NOLFS:
    case SQLITE_TOOBIG:
      return "";
    default:
      return "Restore the ledger from a backup and reconcile it. The file was left as it is.";
  }
}

std::string what_of(int result, const std::string& said) {
  switch (result & 0xff) {
    case SQLITE_NOTADB:
      return "is not a Parley ledger (" + said + ")";
    case SQLITE_CORRUPT:
      return "is damaged (" + said + ")";
    default:
      return "SQLite says: " + said;
  }
}

Error failure(sqlite3* connection, int result, const std::string& file) {
  const std::string said = connection ? sqlite3_errmsg(connection) : sqlite3_errstr(result);
  return {code_of(result), what_of(result, said), hint_of(result), {.file = file}};
}

/// A name that SQLite opens without locks and without making files beside it.
std::string immutable(const std::string& path) {
  std::string name = "file:";
  for (const char c : path)
    name += std::isalnum(static_cast<unsigned char>(c)) || std::strchr("/._-", c)
                ? std::string(1, c)
                : "%" + to_hex(as_bytes({&c, 1}));
  return name + "?immutable=1";
}

}  // namespace

class Statements {
 public:
  explicit Statements(std::string file) : file_(std::move(file)) {}
  Statements(const Statements&) = delete;
  Statements& operator=(const Statements&) = delete;
  ~Statements() {
    for (sqlite3_stmt* statement : idle_) sqlite3_finalize(statement);
  }

  sqlite3_stmt* take(const char* sql) {
    const auto found = std::find_if(idle_.begin(), idle_.end(), [&](sqlite3_stmt* statement) {
      return std::strcmp(sqlite3_sql(statement), sql) == 0;
    });
    if (found == idle_.end()) return nullptr;
    sqlite3_stmt* statement = std::exchange(*found, idle_.back());
    idle_.pop_back();
    return statement;
  }
  void give_back(sqlite3_stmt* statement) {
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    idle_.push_back(statement);
  }
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  std::vector<sqlite3_stmt*> idle_;  // A ledger has a handful.
};

Statement::Statement(std::shared_ptr<Statements> home, sqlite3_stmt* statement)
    : home_(std::move(home)), statement_(statement) {}

Statement::~Statement() {
  if (home_) home_->give_back(statement_);
}

Statement& Statement::note(int result) {
  if (failed_ == SQLITE_OK) failed_ = result;
  return *this;
}

Statement& Statement::bind(int64_t number) {
  return note(sqlite3_bind_int64(statement_, ++bound_, number));
}

Statement& Statement::bind(double number) {
  return note(sqlite3_bind_double(statement_, ++bound_, number));
}

Statement& Statement::bind(std::string_view text) {
  return note(sqlite3_bind_text64(statement_, ++bound_, text.data(), text.size(), SQLITE_STATIC,
                                  SQLITE_UTF8));
}

Statement& Statement::bind(ByteView blob) {
  const void* data = blob.empty() ? "" : static_cast<const void*>(blob.data());  // Null is NULL.
  return note(sqlite3_bind_blob64(statement_, ++bound_, data, blob.size(), SQLITE_STATIC));
}

Result<bool> Statement::step() {
  const int result = failed_ == SQLITE_OK ? sqlite3_step(statement_) : failed_;
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  return failure(sqlite3_db_handle(statement_), result, home_->file());
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }

std::string Statement::text(int column) const {
  const unsigned char* data = sqlite3_column_text(statement_, column);
  const size_t size = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
  return data ? std::string(reinterpret_cast<const char*>(data), size) : std::string();
}

Bytes Statement::blob(int column) const {
  const auto* data = static_cast<const uint8_t*>(sqlite3_column_blob(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  return data ? Bytes(data, data + size) : Bytes();
}

Connection::Connection(std::unique_ptr<sqlite3, Close> connection, std::string file)
    : connection_(std::move(connection)),
      file_(std::move(file)),
      statements_(std::make_shared<Statements>(file_)) {}

void Connection::Close::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

Result<Connection> Connection::open(const std::string& name, int flags, std::string file) {
  sqlite3* raw = nullptr;
  const int result = sqlite3_open_v2(name.c_str(), &raw,
                                     flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  std::unique_ptr<sqlite3, Close> connection(raw);  // Also a failed open leaves something to close.
  if (result != SQLITE_OK) return failure(raw, result, file);
  sqlite3_busy_timeout(raw, kBusyMilliseconds);
  // An auditor reads files that others made: what they contain must not run.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return Connection(std::move(connection), std::move(file));
}

Result<Connection> Connection::write(const std::filesystem::path& file) {
  Connection connection = TRY(open(file.string(), SQLITE_OPEN_READWRITE, file.string()));
  if (sqlite3_db_readonly(connection.connection_.get(), "main") == 1)
    return failure(nullptr, SQLITE_READONLY, file.string());
  return connection;
}

Result<Connection> Connection::create(const std::filesystem::path& file) {
  return open(file.string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, file.string());
}

Result<Connection> Connection::read(const std::filesystem::path& file) {
  // Without a log beside it nobody writes, and nothing need be made beside it to read: a file on a
  // read-only disk can be verified, and an auditor leaves nothing behind that the owner cannot
  // open.
  std::error_code ignored;
  const bool alone = !std::filesystem::exists(file.string() + "-wal", ignored);
  return alone
             ? open(immutable(file.string()), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, file.string())
             : open(file.string(), SQLITE_OPEN_READONLY, file.string());
}

Result<Statement> Connection::prepare(const char* sql) {
  sqlite3_stmt* statement = statements_->take(sql);
  if (statement == nullptr) {
    const int result = sqlite3_prepare_v2(connection_.get(), sql, -1, &statement, nullptr);
    if (result != SQLITE_OK) return failure(connection_.get(), result, file_);
  }
  return Statement(statements_, statement);
}

Result<void> Connection::run(const char* sql) {
  const int result = sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) return failure(connection_.get(), result, file_);
  return {};
}

Result<void> Connection::execute(const char* sql) {
  Statement statement = TRY(prepare(sql));
  TRY(statement.step());
  return {};
}

Result<std::string> Connection::value(const char* sql) {
  Statement statement = TRY(prepare(sql));
  return TRY(statement.step()) ? statement.text(0) : std::string();
}

void Connection::roll_back() {
  // After some errors SQLite has already done so. If it fails, the next BEGIN will.
  sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace parley::ledger
