// Reads one TOML table, key by key. A reader is a list of lines such as
//
//   t.required("box", model.box, above(0).up_to(1e6), "Bound the coefficients, for example box
//   = 1.0.");
//
// and each line checks the value, writes its canonical JSON, and remembers that the key is known.
// The default of an optional key is what the variable holds before. The first error is kept; what
// follows it is read but not reported. Unknown keys are errors, with the nearest known one as a
// hint.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "parley/charter/toml/accept.h"

namespace parley::charter {

/// What reading a document brought to light, besides its values.
struct Findings {
  std::optional<Error> first{};
  std::vector<std::string> undecided{};  // [forecast] keys left out
};

class Table {
 public:
  using Read = std::function<void(Table&)>;

  Table(const Value& value, std::string path, Findings& findings)
      : value_(&value), path_(std::move(path)), findings_(&findings) {}

  template <class T, class Rule>
  void required(std::string_view key, T& value, const Rule& rule, std::string_view hint) {
    if (!read(key, value, rule, hint)) miss(key, hint);
  }
  /// A required key that decides which others there are: missed at once, before those are unknown.
  template <class T, class Rule>
  void decisive(std::string_view key, T& value, const Rule& rule, std::string_view hint) {
    required(key, value, rule, hint);
    if (missing_ && !has(key)) report(*missing_);
  }
  template <class T, class Rule>
  void optional(std::string_view key, T& value, const Rule& rule, std::string_view hint) {
    if (!read(key, value, rule, hint)) write(key, to_json(value));
  }
  /// A key that a draft may leave out; true if it is there.
  template <class T, class Rule>
  bool forecast(std::string_view key, T& value, const Rule& rule, std::string_view hint) {
    const bool there = read(key, value, rule, hint);
    if (!there) findings_->undecided.push_back(path_of(key));
    return there;
  }

  /// Whether a draft left this key out, by its whole name, such as privacy.mechanism.
  bool undecided(std::string_view path) const {
    const auto& all = findings_->undecided;
    return std::find(all.begin(), all.end(), path) != all.end();
  }

  /// A table inside; one that is missing reads as an empty one.
  void table(std::string_view key, const Read& read);
  /// A table inside that may be missing; true if it is there.
  bool table_if_given(std::string_view key, const Read& read);
  /// An array of tables, one after the other.
  void each(std::string_view key, Count count, std::string_view hint, const Read& read);

  bool has(std::string_view key) const { return find(key) != nullptr; }
  size_t count(std::string_view key) const;
  const std::string& path() const { return path_; }

  /// The value is not part of what the parties agree on.
  void leave_out(std::string_view key) { json_.erase(std::string(key)); }
  /// `what` follows the key: "must be above 0, found -1".
  void fail(std::string_view key, const std::string& what, std::string_view hint);
  /// Complains about any other key at once, before what is missing is missed.
  void only(std::initializer_list<std::string_view> keys);
  /// After the last key: unknown keys, then missing ones. Gives the canonical text.
  std::string finish();

 private:
  template <class T, class Rule>
  bool read(std::string_view key, T& value, const Rule& rule, std::string_view hint) {
    known_.emplace(key);
    const Value* found = find(key);
    if (!found) return false;
    const std::string problem = accept(*found, value, rule);
    if (!problem.empty()) fail(key, problem, hint);
    write(key, to_json(value));
    return true;
  }
  const Value* find(std::string_view key) const;
  std::string path_of(std::string_view key) const;
  void write(std::string_view key, std::string json);
  void miss(std::string_view key, std::string_view hint);
  void report(Error error);
  void complain_about_unknown_keys();

  const Value* value_;
  std::string path_;
  Findings* findings_;
  std::set<std::string, std::less<>> known_{};
  std::map<std::string, std::string> json_{};
  std::optional<Error>
      missing_{};  // weaker than an unknown key, which may be the missing one misspelt
};

}  // namespace parley::charter
