// A TOML document as plain values that know where they were written, so that every later complaint
// can say file, line and column. value.cc is the only place that sees toml++.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "parley/base/result.h"
#include "parley/charter.h"

namespace parley::charter {

inline constexpr size_t kFileBytesMax = 16 << 20;

struct Position {
  int line = 0, column = 0;  // from 1; 0 is unknown
};

struct Value {
  using Items = std::vector<Value>;
  using Members = std::map<std::string, Value, std::less<>>;
  /// Nothing stands for dates and times, which no key takes.
  std::variant<std::monostate, bool, int64_t, double, std::string, Items, Members> data;
  std::shared_ptr<const std::string> file{};
  Position place{};      // of the value
  Position key_place{};  // of its key, for members of a table

  template <class T>
  const T* get() const {
    return std::get_if<T>(&data);
  }
  template <class T>
  T* get() {
    return std::get_if<T>(&data);
  }
  Where where(std::string key) const {
    return {file ? *file : "", place.line, place.column, std::move(key)};
  }
};

using parley::Override;

/// The whole document, a table. `file_name` is only for messages.
Result<Value> parse_toml(std::string_view text, const std::string& file_name);

Result<void> apply(const Override& change, Value& document);

}  // namespace parley::charter
