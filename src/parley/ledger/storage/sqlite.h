// A thin wrapper of SQLite: connections and statements that close themselves, and every result code
// turned into an Error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "parley/base/bytes.h"
#include "parley/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace parley::ledger {

/// Compiled statements that nobody is using, by their text: compiling one takes longer than running
/// it.
class Statements;

/// Parameters are bound in the order of their question marks, texts and blobs without a copy: they
/// must live until the statement has been run. Columns are read by number, from 0.
class Statement {
 public:
  Statement(Statement&&) noexcept = default;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  Statement& bind(int64_t number);
  Statement& bind(double number);
  Statement& bind(std::string_view text);
  Statement& bind(ByteView blob);
  Statement& bind(std::string&& gone) = delete;

  /// To the next row of the result: true, or false after the last.
  Result<bool> step();

  int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  Bytes blob(int column) const;

 private:
  friend class Connection;
  Statement(std::shared_ptr<Statements> home, sqlite3_stmt* statement);

  Statement& note(int result);

  std::shared_ptr<Statements> home_;  // It goes back there; null once moved from.
  sqlite3_stmt* statement_;
  int bound_ = 0;
  int failed_ = 0;  // the first bad result of a bind; step() reports it
};

class Connection {
 public:
  /// An existing file, for writing.
  static Result<Connection> write(const std::filesystem::path& file);
  /// A new file; one that exists is opened.
  static Result<Connection> create(const std::filesystem::path& file);
  /// An existing file, which is not changed, whatever is in it; also while someone else writes.
  static Result<Connection> read(const std::filesystem::path& file);

  Result<Statement> prepare(const char* sql);
  /// Any number of statements whose results nobody needs.
  Result<void> run(const char* sql);
  /// The first column of the first row; empty if there is none.
  Result<std::string> value(const char* sql);

  /// All of `work`, or nothing. Alone as a writer from its first line on.
  template <class Work>
  Result<void> in_transaction(const Work& work) {
    TRY(begin());
    Result<void> done = work();
    if (done) done = commit();
    if (!done) roll_back();
    return done;
  }

  Result<void> begin() { return execute("BEGIN IMMEDIATE"); }
  Result<void> commit() { return execute("COMMIT"); }
  void roll_back();

  /// As it stands in errors.
  const std::string& file() const { return file_; }

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  static Result<Connection> open(const std::string& name, int flags, std::string file);
  Result<void> execute(const char* sql);  // one statement
  Connection(std::unique_ptr<sqlite3, Close> connection, std::string file);

  std::unique_ptr<sqlite3, Close> connection_;
  std::string file_;
  std::shared_ptr<Statements> statements_;
};

}  // namespace parley::ledger
