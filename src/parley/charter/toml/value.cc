#include "parley/charter/toml/value.h"

#include <toml++/toml.h>

#include <charconv>
#include <utility>

namespace parley::charter {
namespace {

constexpr int kDepthMax = 16;
constexpr size_t kPiecesMax = 500'000;
using File = std::shared_ptr<const std::string>;

Error syntax_error(std::string what, const std::string& file, Position place) {
  return {Code::kInvalid,
          std::move(what),
          "The file must be TOML 1.0.",
          {file, place.line, place.column, ""}};
}

/// The position behind the string that starts at `i`; lenient, because toml++ judges it later.
size_t skip_string(std::string_view text, size_t i) {
  const char quote = text[i];
  const std::string fence(3, quote);
  const bool multi = text.substr(i, 3) == fence;
  for (i += multi ? 3 : 1; i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (!multi && (text[i] == quote || text[i] == '\n')) {
      return i + (text[i] == quote);
    } else if (multi && text.substr(i, 3) == fence) {
      i += 3;  // Up to two more quotes belong to the string.
      for (int more = 0; more < 2 && i < text.size() && text[i] == quote; ++more) ++i;
      return i;
    }
  }
  return text.size();
}

/// toml++ 3.3 limits the depth of brackets but not of dotted keys, and recurses over both when it
/// destroys a document: 100,000 dots in one key end the process. So depth and size are limited
/// here, before it looks at the text.
Result<void> check_limits(std::string_view text, const std::string& file) {
  if (text.size() > kFileBytesMax) return syntax_error("the file is larger than 16 MiB", file, {});
  int line = 1, dots = 0, brackets = 0;
  size_t pieces = 0;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'' || c == '#') {
      const size_t end = c == '#' ? text.find('\n', i) : skip_string(text, i);
      for (; i < std::min(end, text.size()); ++i) line += text[i] == '\n';
      continue;
    }
    if (c == '.') ++dots;
    if (c == '\n' || c == ',' || c == '=' || c == '[' || c == '{') dots = 0, ++pieces;
    if (c == '[' || c == '{') ++brackets;
    if (c == ']' || c == '}') --brackets;
    if (dots > kDepthMax || brackets > kDepthMax)
      return syntax_error("nested more than 16 deep", file, {line, 0});
    if (pieces > kPiecesMax) return syntax_error("more than 500,000 values", file, {line, 0});
    line += c == '\n';
    ++i;
  }
  return {};
}

Position place_of(const toml::source_region& region) {
  return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

Value convert(const toml::node& node, const File& file) {
  Value value{.data = std::monostate{}, .file = file, .place = place_of(node.source())};
  if (const auto* flag = node.as_boolean()) value.data = flag->get();
  if (const auto* integer = node.as_integer()) value.data = integer->get();
  if (const auto* number = node.as_floating_point()) value.data = number->get();
  if (const auto* text = node.as_string()) value.data = text->get();
  if (const auto* array = node.as_array()) {
    auto& items = value.data.emplace<Value::Items>();
    for (const toml::node& item : *array) items.push_back(convert(item, file));
  }
  if (const auto* table = node.as_table()) {
    auto& members = value.data.emplace<Value::Members>();
    for (const auto& [key, member] : *table) {
      Value& added = members.emplace(key.str(), convert(member, file)).first->second;
      added.key_place = place_of(key.source());
    }
  }
  return value;
}

/// How messages name the place of a change.
std::string name_of(const Override& change) { return "--set " + change.key + "=" + change.value; }

/// A TOML value, or else the text itself.
Value parse_value(const Override& change, const File& file) {
  Value value{.data = change.value, .file = file};
  if (const Result<Value> document = parse_toml("value = " + change.value, *file)) {
    const auto& members = *document->get<Value::Members>();
    if (members.size() == 1)
      value.data = members.begin()->second.data;  // No second line slipped in.
  }
  return value;
}

Error cannot_set(const Override& change, const std::string& what) {
  return {Code::kInvalid,
          what,
          "Name a key as in the file, for example --set owner.0.epsilon=2.",
          {name_of(change), 0, 0, change.key}};
}

/// The member `step` of a table (made if it is not there) or of an array; nullptr for neither.
Value* descend(Value& from, const std::string& step, const File& file) {
  if (auto* members = from.get<Value::Members>())
    return &members->try_emplace(step, Value{.data = Value::Members{}, .file = file}).first->second;
  auto* items = from.get<Value::Items>();
  size_t index = 0;
  const char* last = step.data() + step.size();
  const auto [end, error] = std::from_chars(step.data(), last, index);
  const bool inside = items && error == std::errc() && end == last && index < items->size();
  return inside ? &(*items)[index] : nullptr;
}

}  // namespace

Result<Value> parse_toml(std::string_view text, const std::string& file_name) {
  TRY(check_limits(text, file_name));
  try {
    const toml::table table = toml::parse(text, std::string_view(file_name));
    return convert(table, std::make_shared<const std::string>(file_name));
  } catch (const toml::parse_error& error) {
    return syntax_error(std::string(error.description()), file_name, place_of(error.source()));
  } catch (const std::exception& error) {
    return syntax_error(error.what(), file_name, {});
  }
}

Result<void> apply(const Override& change, Value& document) {
  const auto file = std::make_shared<const std::string>(name_of(change));
  Value* value = &document;
  for (size_t begin = 0, depth = 0; begin <= change.key.size(); ++depth) {
    const size_t end = std::min(change.key.find('.', begin), change.key.size());
    const std::string step = change.key.substr(begin, end - begin);
    if (step.empty() || depth > kDepthMax) return cannot_set(change, "not the name of a key");
    value = descend(*value, step, file);
    if (!value) return cannot_set(change, "there is no member " + step + " to set");
    begin = end + 1;
  }
  *value = parse_value(change, file);
  return {};
}

}  // namespace parley::charter
