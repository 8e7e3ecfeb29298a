#include "parley/base/json_object.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "parley/base/math/number.h"

namespace parley {
namespace {

using Json = nlohmann::json;

// Each `take` fills `value` if the JSON is of its type; `expected` says what that is.
bool take(const Json& json, std::string& value) {
  return json.is_string() && (value = json.get<std::string>(), true);
}
bool take(const Json& json, bool& value) {
  return json.is_boolean() && (value = json.get<bool>(), true);
}
bool take(const Json& json, uint64_t& value) {
  return json.is_number_unsigned() && (value = json.get<uint64_t>(), true);
}
bool take(const Json& json, double& value) {
  return json.is_number() && (value = json.get<double>(), std::isfinite(value));
}
template <class T>
bool take(const Json& json, std::optional<T>& value) {
  return json.is_null() || take(json, value.emplace());
}
template <class T>
bool take(const Json& json, std::vector<T>& value) {
  if (!json.is_array()) return false;
  value.resize(json.size());
  for (size_t i = 0; i < value.size(); ++i)
    if (!take(json[i], value[i])) return false;
  return true;
}

std::string expected(const std::string&) { return "a text"; }
std::string expected(bool) { return "true or false"; }
std::string expected(uint64_t) { return "a whole number from 0"; }
std::string expected(double) { return "a finite number"; }
template <class T>
std::string expected(const std::optional<T>&) {
  return expected(T{}) + " or null";
}
template <class T>
std::string expected(const std::vector<T>&) {
  return "a list, each entry " + expected(T{});
}

/// Line and column of a byte, from 1.
Where where_of(std::string_view text, size_t byte, const std::string& file) {
  const std::string_view before = text.substr(0, byte > 0 ? byte - 1 : 0);
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {.file = file,
          .line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n')),
          .column = 1 + static_cast<int>(before.size() - line_start)};
}

}  // namespace

Error JsonObject::error(std::string_view key, std::string what) const {
  return {Code::kInvalid,
          std::move(what),
          "Was the file edited, or written by another version of Parley?",
          {.file = file_, .key = path_of(key)}};
}

bool JsonObject::has(std::string_view key) const { return json_->contains(key); }

bool JsonObject::is_null(std::string_view key) const {
  return has(key) && json_->find(key)->is_null();
}

template <class T>
Result<void> JsonObject::get(std::string_view key, T& value) const {
  const Json* found = TRY(find(key));
  if (!take(*found, value)) return error(key, "must be " + expected(T{}));
  return {};
}

template Result<void> JsonObject::get(std::string_view, bool&) const;
template Result<void> JsonObject::get(std::string_view, double&) const;
template Result<void> JsonObject::get(std::string_view, uint64_t&) const;
template Result<void> JsonObject::get(std::string_view, std::string&) const;
template Result<void> JsonObject::get(std::string_view, std::vector<double>&) const;
template Result<void> JsonObject::get(std::string_view, std::vector<uint64_t>&) const;
template Result<void> JsonObject::get(std::string_view, std::vector<std::string>&) const;
template Result<void> JsonObject::get(std::string_view, std::optional<uint64_t>&) const;
template Result<void> JsonObject::get(std::string_view, std::optional<std::string>&) const;

Result<JsonObject> JsonObject::object(std::string_view key) const {
  const Json* found = TRY(find(key));
  if (!found->is_object()) return error(key, "must be an object");
  return JsonObject(*found, file_, path_of(key));
}

Result<std::vector<JsonObject>> JsonObject::objects(std::string_view key) const {
  const Json* found = TRY(find(key));
  if (!found->is_array()) return error(key, "must be a list of objects");
  std::vector<JsonObject> all;
  for (const Json& entry : *found) {
    const std::string at = std::string(key) + "[" + std::to_string(all.size()) + "]";
    if (!entry.is_object()) return error(at, "must be an object");
    all.emplace_back(entry, file_, path_of(at));
  }
  return all;
}

Result<const Json*> JsonObject::find(std::string_view key) const {
  const auto found = json_->find(key);
  if (found == json_->end()) return error(key, "is missing");
  return &*found;
}

std::string JsonObject::path_of(std::string_view key) const {
  return (path_.empty() ? "" : path_ + ".") + std::string(key);
}

Result<void> read_json(std::string_view text, const std::string& file, const std::string& hint,
                       const std::function<Result<void>(const JsonObject&)>& read) {
  try {
    const Json json = Json::parse(text);
    if (!json.is_object())
      return Error{Code::kInvalid, "is not a JSON object", hint, {.file = file}};
    return read(JsonObject(json, file));
  } catch (const Json::parse_error& error) {
    return Error{Code::kInvalid, "is not JSON", hint, where_of(text, error.byte, file)};
  } catch (const Json::exception&) {  // A number that no double can hold.
    return Error{Code::kInvalid, "holds a number out of range", hint, {.file = file}};
  }
}

std::string canonical_json(const Json& json) {
  if (json.is_number_float()) return shortest(json.get<double>());
  if (!json.is_structured()) return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string text;
  for (const auto& [key, value] : json.items()) {
    text += text.empty() ? "" : ",";
    if (json.is_object()) text += canonical_json(key) + ":";
    text += canonical_json(value);
  }
  return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

}  // namespace parley
