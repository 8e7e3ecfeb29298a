// A database behind a child process of the owner: a driver that crashes does not take the owner's
// process along, and the child never holds a key. Question and answer are one line of JSON each:
//
//   owner: {"parley_engine":1,"dialect":"sqlite","path":"...","dsn":"...","query":"select ..."}
//   child: {"columns":[{"name":"amount","kind":"real"}, ...]}
//   owner: {"text":"with ...","parameters":[{"real":"0x1.8p+1"},{"integer":"2"},{"text":"x"}]}
//   child: {"numbers":["600000","-12", ...]}
//
// The child may instead answer {"error":"...","invalid":true}, with `invalid` if the query is at
// fault. Kinds are real, integer, decimal, text, boolean, other and any. The child keeps one
// snapshot of the data from its first answer on, and ends when its input ends.
#pragma once

#include <chrono>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "parley/base/result.h"
#include "parley/data/sources/child.h"
#include "parley/data/sql/run.h"

namespace parley::data::sql {

struct EngineSettings {
  std::vector<std::string> command{};  // empty: this program's own command `engine`
  Dialect dialect = Dialect::kSqlite;
  std::string path{}, dsn{}, query{};
  std::chrono::seconds patience{3600};  // for an answer
  Stop stop{};                          // ends the child, while it is asked
};

/// The owner's end. What it returns is exact: only the gate may ask.
class Engine {
 public:
  /// Starts the child and asks what the query gives.
  static Result<std::shared_ptr<Engine>> start(const EngineSettings& settings);

  Dialect dialect() const { return dialect_; }
  const std::vector<TableColumn>& columns() const { return columns_; }

  /// The number of rows, then the statement's integers. A child that has ended, says nothing for
  /// too long, or does not keep to the above, is an error of this machine, now and for every later
  /// question.
  Result<std::vector<int64_t>> ask(const Statement& statement, std::span<const double> theta);

 private:
  Engine(Dialect dialect, std::unique_ptr<Child> child)
      : dialect_(dialect), child_(std::move(child)) {}

  Dialect dialect_;
  std::unique_ptr<Child> child_;
  std::vector<TableColumn> columns_{};
  std::mutex mutex_{};
};

/// The child's end, for SQLite and PostgreSQL: reads lines until there are no more.
void serve_engine(std::istream& in, std::ostream& out);

}  // namespace parley::data::sql
