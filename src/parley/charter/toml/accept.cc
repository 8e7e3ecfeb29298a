#include "parley/charter/toml/accept.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "parley/base/math/number.h"

namespace parley::charter {
namespace {

constexpr size_t kTextBytesMax = 1000;

std::string must_be(std::string_view what, const Value& value) {
  return "must be " + std::string(what) + ", found " + describe(value);
}

/// Different texts without blanks around them, for they are compared after trimming.
std::string accept_texts(const Value& value, std::vector<std::string>& texts, Count count,
                         TextRule rule) {
  const auto* items = value.get<Value::Items>();
  if (!items) return must_be("an array of texts", value);
  if (items->size() < count.low || items->size() > count.high)
    return "must have " + std::to_string(count.low) +
           (count.low == count.high ? "" : " to " + std::to_string(count.high)) +
           " members, found " + std::to_string(items->size());
  std::set<std::string> seen;
  for (const Value& item : *items) {
    std::string& text = texts.emplace_back();
    const std::string problem = accept(item, text, rule);
    if (!problem.empty()) return "has a member that " + problem;
    if (text.starts_with(' ') || text.ends_with(' '))
      return "has a member with blanks around it, " + in_quotes(text);
    if (!seen.insert(text).second) return "has " + in_quotes(text) + " twice";
  }
  return "";
}

template <class T>
std::string accept_members(const Value& value, std::map<std::string, T>& all, TextRule rule) {
  const auto* members = value.get<Value::Members>();
  if (!members) return must_be("a table of texts", value);
  for (const auto& [name, member] : *members) {
    const std::string problem = accept(member, all[name], rule);
    if (!problem.empty()) return "has a member " + in_quotes(name) + " that " + problem;
  }
  return "";
}

}  // namespace

std::string Range::problem(double value) const {
  const bool low_ok = low_open ? value > low : value >= low;
  const bool high_ok = high_open ? value < high : value <= high;
  std::string must;
  if (!std::isfinite(value)) {
    must = "must be finite";
  } else if (!low_ok) {
    must = (low_open ? "must be above " : "must be at least ") + shortest(low);
  } else if (!high_ok) {
    must = (high_open ? "must be below " : "must be at most ") + shortest(high);
  }
  return must.empty() ? "" : must + ", found " + shortest(value);
}

std::string any_text(std::string_view text) {
  if (text.empty()) return "must not be empty";
  if (text.size() > kTextBytesMax) return "must not be longer than 1000 bytes";
  if (printable(text, text.size()) != text)
    return "must not contain control characters, or others that nobody sees";
  return "";
}

std::string any_name(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-";
  if (!text.empty() && text.size() <= 63 &&
      text.find_first_not_of(kLetters) == std::string_view::npos)
    return "";
  return "must be 1 to 63 of a-z, 0-9 and -, found " + in_quotes(text);
}

std::string any_domain(std::string_view text) {
  const std::string problem = "must be a name such as banks.example, found " + in_quotes(text);
  if (text.size() > 253) return problem;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('.', begin), text.size());
    if (!any_name(text.substr(begin, end - begin)).empty()) return problem;
    begin = end + 1;
  }
  return "";
}

std::string host_and_port(std::string_view text) {
  constexpr std::string_view kHost =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.:[]";
  const size_t colon = std::min(text.rfind(':'), text.size());
  const std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(std::min(colon + 1, text.size()));
  const auto port = parse_number(digits);
  const bool good = !host.empty() && host.size() <= 253 &&
                    host.find_first_not_of(kHost) == std::string_view::npos && port &&
                    digits.find_first_not_of("0123456789") == std::string_view::npos &&
                    *port >= 1 && *port <= 65535;
  return good ? "" : "must be host:port, found " + in_quotes(text);
}

std::string describe(const Value& value) {
  if (const auto* flag = value.get<bool>()) return *flag ? "true" : "false";
  if (const auto* integer = value.get<int64_t>()) return std::to_string(*integer);
  if (const auto* number = value.get<double>()) return shortest(*number);
  if (const auto* text = value.get<std::string>()) return in_quotes(*text);
  if (value.get<Value::Items>()) return "an array";
  return value.get<Value::Members>() ? "a table" : "a date or time";
}

std::string accept(const Value& value, double& number, const Range& range) {
  if (const auto* integer = value.get<int64_t>())
    number = static_cast<double>(*integer);
  else if (const auto* floating = value.get<double>())
    number = *floating;
  else
    return must_be("a number", value);
  number += 0.0;  // -0 is 0.
  return range.problem(number);
}

std::string accept(const Value& value, int64_t& number, const Range& range) {
  double wide = 0;
  if (!accept(value, wide, Range{}).empty() || wide != std::floor(wide))
    return must_be("a whole number", value);
  std::string problem = range.problem(wide);
  if (problem.empty()) number = static_cast<int64_t>(wide);
  return problem;
}

std::string accept(const Value& value, bool& flag, Anything) {
  const auto* found = value.get<bool>();
  if (!found) return must_be("true or false", value);
  flag = *found;
  return "";
}

std::string accept(const Value& value, std::string& text, TextRule rule) {
  const auto* found = value.get<std::string>();
  if (!found) return must_be("a text in quotes", value);
  text = *found;
  return rule(text);
}

std::string accept(const Value& value, std::filesystem::path& path, Anything) {
  std::string text;
  std::string problem = accept(value, text, any_text);
  path = text;
  return problem;
}

std::string accept(const Value& value, Hash& hash, Anything) {
  std::string text;
  if (!accept(value, text, any_text).empty()) return must_be("64 hexadecimal digits", value);
  const Result<Hash> found = hash_from_hex(text);
  if (!found) return must_be("64 hexadecimal digits", value);
  hash = *found;
  return "";
}

std::string accept(const Value& value, SignKey& key, Anything) {
  const auto* text = value.get<std::string>();
  const auto found = text ? sign_key_from(*text) : std::nullopt;
  if (!found) return must_be("\"ed25519:\" and the base64 of 32 bytes", value);
  key = *found;
  return "";
}

std::string accept(const Value& value, std::vector<std::string>& texts, Count count) {
  return accept_texts(value, texts, count, any_text);
}

std::string accept(const Value& value, std::vector<std::string>& texts, CountOfValues count) {
  return accept_texts(value, texts, {count.low, count.high}, [](std::string_view text) {
    return text.empty() ? std::string() : any_text(text);
  });
}

std::string accept(const Value& value, std::array<double, 2>& numbers, const Range& range) {
  const auto* items = value.get<Value::Items>();
  if (!items || items->size() != 2) return must_be("two numbers, [first, second]", value);
  for (size_t i = 0; i < 2; ++i) {
    const std::string problem = accept((*items)[i], numbers[i], range);
    if (!problem.empty()) return "has a member that " + problem;
  }
  return "";
}

std::string accept(const Value& value, std::pair<double, double>& bounds, const Range& range) {
  std::array<double, 2> numbers{};
  const std::string problem = accept(value, numbers, range);
  bounds = {numbers[0], numbers[1]};
  if (!problem.empty()) return problem;
  if (bounds.first < bounds.second) return "";
  return "must have the lower bound first, found " + to_json(bounds);
}

std::string accept(const Value& value, std::vector<std::array<std::string, 2>>& pairs, Anything) {
  const auto* items = value.get<Value::Items>();
  if (!items || items->empty()) return must_be("pairs of names, [[\"a\", \"b\"], ...]", value);
  for (const Value& item : *items) {
    std::vector<std::string> names;
    const std::string problem = accept(item, names, Count{2, 2});
    if (!problem.empty()) return "has a member that " + problem;
    std::sort(names.begin(), names.end());
    pairs.push_back({names[0], names[1]});
  }
  std::sort(pairs.begin(), pairs.end());
  const auto twice = std::adjacent_find(pairs.begin(), pairs.end());
  if (twice == pairs.end()) return "";
  return "has the pair " + in_quotes((*twice)[0]) + ", " + in_quotes((*twice)[1]) + " twice";
}

std::string accept(const Value& value, std::map<std::string, std::string>& texts, Anything) {
  return accept_members(value, texts, any_text);
}

std::string accept(const Value& value, Addresses& addresses, TextRule rule) {
  if (value.get<Value::Items>()) return accept_texts(value, addresses.all, {1, 8}, rule);
  std::string one;
  std::string problem = accept(value, one, rule);
  addresses = one;
  return problem;
}

std::string accept(const Value& value, std::map<std::string, Addresses>& addresses, TextRule rule) {
  return accept_members(value, addresses, rule);
}

std::string choose(const Value& value, const std::vector<std::string_view>& words, size_t& chosen) {
  const auto* text = value.get<std::string>();
  const auto found = std::find(words.begin(), words.end(), text ? *text : "");
  chosen = static_cast<size_t>(found - words.begin());
  if (text && found != words.end()) return "";
  std::string list = words.size() > 1 ? "one of " : "";
  for (size_t i = 0; i < words.size(); ++i) list += (i ? " | " : "") + to_json(words[i]);
  return must_be(list, value);
}

}  // namespace parley::charter
