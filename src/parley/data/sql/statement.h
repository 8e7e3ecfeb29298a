// One SELECT and the constants in it. Numbers are bound as parameters and never printed into the
// text, because the database would parse a decimal by its own rules.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "parley/data/sql/dialect.h"

namespace parley::data::sql {

/// The coordinate of theta that is bound where a question is asked.
struct Theta {
  size_t at;
  bool operator==(const Theta&) const = default;
  auto operator<=>(const Theta&) const = default;
};
using Value = std::variant<double, int64_t, std::string>;

struct Statement {
  std::string text;
  std::vector<std::variant<Value, Theta>> parameters{};  // parameter i + 1
  size_t numbers = 0;  // integers of its only row, after the number of rows

  std::vector<Value> values_at(std::span<const double> theta) const;
};

/// A chain of steps, each a SELECT from the one before; the first from the owner's query. What
/// several expressions use is a column of an earlier step, so that it is computed once.
class Writer {
 public:
  using Column = std::pair<std::string, std::string>;  // name, expression

  explicit Writer(Dialect dialect) : dialect_(dialect) {}

  Dialect dialect() const { return dialect_; }
  const Differences& differs() const { return differences(dialect_); }

  std::string real(double value);
  std::string integer(int64_t value);
  std::string text(const std::string& value);
  std::string theta(size_t at);

  /// Keeps these columns of the step before and adds others.
  void step(const std::vector<std::string>& keep, const std::vector<Column>& made);
  /// The first step; `where` may be empty.
  void begin(const std::vector<Column>& made, const std::string& query, const std::string& where);
  /// `sums`: expressions of integers over the last step's columns.
  Statement finish(const std::vector<std::string>& sums) &&;

 private:
  std::string parameter(std::variant<Value, Theta> value, std::string_view type);
  void add(const std::string& select);

  Dialect dialect_;
  std::string text_ = "with";
  size_t steps_ = 0;
  std::vector<std::variant<Value, Theta>> parameters_{};
  std::map<std::pair<std::string, std::variant<uint64_t, std::string>>, size_t> known_{};
};

// Pieces of text.
std::string name(std::string_view letter, size_t number);
std::vector<std::string> names(std::string_view letter, size_t count);
std::string choose(const std::string& condition, const std::string& then, const std::string& other);
/// `value`, or 0 where it is of size below `least`: products and quotients of what is left do not
/// underflow, which some databases call an error. One comparison: DuckDB needs several times as
/// long for two that are joined by OR.
std::string or_zero(Writer& w, const std::string& value, double least);
/// Coefficients from the highest power down.
std::string polynomial(Writer& w, std::span<const double> coefficients, const std::string& x);
/// Terms in the lanes of the kernel and its tree; `count` of them.
template <class Term>
std::string lane_sum(size_t count, const Term& term) {
  std::string lane[8];
  for (size_t j = 0; j < count; ++j)
    lane[j % 8] = lane[j % 8].empty() ? term(j) : "(" + lane[j % 8] + " + " + term(j) + ")";
  const auto plus = [](const std::string& a, const std::string& b) {
    return b.empty() ? a : "(" + a + " + " + b + ")";
  };
  return plus(plus(plus(lane[0], lane[4]), plus(lane[2], lane[6])),
              plus(plus(lane[1], lane[5]), plus(lane[3], lane[7])));
}

}  // namespace parley::data::sql
