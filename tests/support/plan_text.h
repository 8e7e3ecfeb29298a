// All numbers that follow from a charter, as lines "key = value" in which doubles are exact.
#pragma once

#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/base/result.h"

namespace parley::test {

/// Half of a SHA-256: enough to tell texts apart.
std::string short_hex(const Hash& hash);

class PlanText {
 public:
  struct Line {
    std::string key, value;
    bool detail = false;  // Written out for the base of a family; of its variants a SHA-256.
  };

  void add(const std::string& key, std::string_view value);
  void add(const std::string& key, const char* value) { add(key, std::string_view(value)); }
  void add(const std::string& key, bool value) { add(key, value ? "true" : "false"); }
  /// As a hexadecimal float: every bit counts.
  void add(const std::string& key, double value);
  template <std::integral Integer>
  void add(const std::string& key, Integer value) {
    add(key, std::to_string(value));
  }
  void add(const std::string& key, const Hash& value) { add(key, short_hex(value)); }
  /// A long list is its length, its first two numbers and a SHA-256 of all.
  void add(const std::string& key, std::span<const double> values);
  void add(const std::string& key, const std::vector<double>& values) {
    add(key, std::span<const double>(values));
  }
  /// A refusal is a result like any other.
  void add(const std::string& key, const Error& error);

  /// The lines of another text, their keys behind `prefix`.
  void add(const std::string& prefix, const PlanText& part);
  /// The same, as details.
  void add_details(const std::string& prefix, const PlanText& part);
  template <class Value>
  void add_detail(const std::string& key, const Value& value) {
    add(key, value);
    lines_.back().detail = true;
  }
  /// One text per owner: the first in full, of the next ones as details what differs from the
  /// first, and of many others a SHA-256.
  void add_owners(const std::vector<std::string>& names, const std::vector<PlanText>& owners);

  const std::vector<Line>& lines() const& { return lines_; }
  const std::string* find(std::string_view key) const;
  /// What is not the same in `base`. Keys that only the base has are counted and hashed.
  PlanText unlike(const PlanText& base) const;
  /// All details as one line: their number and a SHA-256.
  PlanText brief() const;
  std::string text() const;

 private:
  std::vector<Line> lines_{};
};

/// What `print` makes of a value, or the refusal, behind `key`.
template <class T, class Print>
void add_result(PlanText& out, const std::string& key, const Result<T>& result,
                const Print& print) {
  if (!result) return out.add(key + ".refused", result.error());
  PlanText part;
  print(part, *result);
  out.add(key, part);
}

}  // namespace parley::test
