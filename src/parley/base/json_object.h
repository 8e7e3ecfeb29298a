// An object of a JSON file being read: every value is there and of its type, or an error names the
// file and the key.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/result.h"

namespace parley {

/// Looks into a parsed file, which must outlive it.
class JsonObject {
 public:
  /// The whole file. `json` is an object.
  JsonObject(const nlohmann::json& json, std::string file, std::string path = "")
      : json_(&json), file_(std::move(file)), path_(std::move(path)) {}

  Error error(std::string_view key, std::string what) const;
  bool has(std::string_view key) const;
  bool is_null(std::string_view key) const;

  /// T is bool, double (finite), uint64_t, std::string, a vector of one of the last three, or an
  /// optional uint64_t or std::string, which is null in the file.
  template <class T>
  Result<void> get(std::string_view key, T& value) const;

  /// One of `words`, as an enumeration in the same order.
  template <class Enum, size_t n>
  Result<void> get(std::string_view key, Enum& value,
                   const std::array<std::string_view, n>& words) const {
    std::string word;
    TRY(get(key, word));
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end()) return error(key, "is not a word that can stand here");
    value = static_cast<Enum>(found - words.begin());
    return {};
  }

  Result<JsonObject> object(std::string_view key) const;
  Result<std::vector<JsonObject>> objects(std::string_view key) const;

 private:
  Result<const nlohmann::json*> find(std::string_view key) const;
  std::string path_of(std::string_view key) const;

  const nlohmann::json* json_;
  std::string file_, path_;
};

/// Parses `text` and hands its object to `read`. An error has the place; `hint` is for texts that
/// are no JSON at all.
Result<void> read_json(std::string_view text, const std::string& file, const std::string& hint,
                       const std::function<Result<void>(const JsonObject&)>& read);

/// The one text of a value, for files that are named by their hash: keys sorted, no blanks, numbers
/// in the shortest form that reads back.
std::string canonical_json(const nlohmann::json& json);

}  // namespace parley
