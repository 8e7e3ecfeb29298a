// From a TOML value to a typed one: each accept() says what is wrong with the value ("must be above
// 0, found -1"), or nothing.
#pragma once

#include <array>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/charter/toml/canonical.h"
#include "parley/charter/toml/names.h"
#include "parley/charter/toml/value.h"

namespace parley::charter {

/// What a number must satisfy: above(0).up_to(1), at_least(0).below(1).
struct Range {
  double low = -std::numeric_limits<double>::max(), high = std::numeric_limits<double>::max();
  bool low_open = false, high_open = false;

  constexpr Range up_to(double value) const { return {low, value, low_open, false}; }
  constexpr Range below(double value) const { return {low, value, low_open, true}; }
  std::string problem(double value) const;
};
constexpr Range above(double value) { return {.low = value, .low_open = true}; }
constexpr Range at_least(double value) { return {.low = value}; }

/// What a text must satisfy: returns a problem or nothing.
using TextRule = std::string (*)(std::string_view);
std::string any_text(std::string_view text);    // 1 to 1000 bytes, no control characters
std::string any_name(std::string_view text);    // [a-z0-9-]{1,63}
std::string any_domain(std::string_view text);  // names joined by dots
std::string host_and_port(std::string_view text);

struct Anything {};

/// How many members an array may have.
struct Count {
  size_t low, high;
};

/// The same for values that are compared with data, where the empty text means no value.
struct CountOfValues {
  size_t low, high;
};

/// Some of the words of an enumeration.
template <class Word>
using Among = std::initializer_list<Word>;

/// The value as a message shows it.
std::string describe(const Value& value);

std::string accept(const Value& value, double& number, const Range& range);
std::string accept(const Value& value, int64_t& number, const Range& range);
std::string accept(const Value& value, bool& flag, Anything);
std::string accept(const Value& value, std::string& text, TextRule rule);
std::string accept(const Value& value, std::filesystem::path& path, Anything);
std::string accept(const Value& value, Hash& hash, Anything);
std::string accept(const Value& value, SignKey& key, Anything);
/// Different texts.
std::string accept(const Value& value, std::vector<std::string>& texts, Count count);
std::string accept(const Value& value, std::vector<std::string>& texts, CountOfValues count);
/// [low, high] with low < high.
std::string accept(const Value& value, std::pair<double, double>& bounds, const Range& range);
/// Two numbers, in any order.
std::string accept(const Value& value, std::array<double, 2>& numbers, const Range& range);
/// Pairs of names; the pairs and the names of each come out in order, which means nothing.
std::string accept(const Value& value, std::vector<std::array<std::string, 2>>& pairs, Anything);
std::string accept(const Value& value, std::map<std::string, std::string>& texts, Anything);
/// One, or a list of up to eight.
std::string accept(const Value& value, Addresses& addresses, TextRule rule);
std::string accept(const Value& value, std::map<std::string, Addresses>& addresses, TextRule rule);
std::string choose(const Value& value, const std::vector<std::string_view>& words, size_t& chosen);

template <class Word>
  requires std::is_enum_v<Word>
std::string accept(const Value& value, Word& word, Among<Word> allowed) {
  std::vector<std::string_view> words;
  for (const Word each : allowed) words.push_back(name_of(each));
  size_t chosen = 0;
  std::string problem = choose(value, words, chosen);
  if (problem.empty()) word = allowed.begin()[chosen];
  return problem;
}

template <class Word>
  requires std::is_enum_v<Word>
std::string accept(const Value& value, Word& word, Anything) {
  size_t chosen = 0;
  std::string problem = choose(value, {kNames<Word>.begin(), kNames<Word>.end()}, chosen);
  if (problem.empty()) word = static_cast<Word>(chosen);
  return problem;
}

template <class T, class Rule>
std::string accept(const Value& value, std::optional<T>& maybe, const Rule& rule) {
  return accept(value, maybe.emplace(), rule);
}

}  // namespace parley::charter
