// The canonical JSON text of values, over which a charter is hashed: keys sorted, no spaces,
// numbers in the shortest form that reads back the same, so that 1 and 1.0 are one text.
#pragma once

#include <array>
#include <concepts>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/base/crypto/signature.h"
#include "parley/base/printable.h"
#include "parley/charter/toml/addresses.h"
#include "parley/charter/toml/names.h"

namespace parley::charter {

constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 32 || c == 127; }

/// An object from its members' texts.
std::string json_object(const std::map<std::string, std::string>& members);

std::string to_json(double number);
std::string to_json(bool flag);
std::string to_json(std::string_view text);
inline std::string to_json(const std::string& text) { return to_json(std::string_view(text)); }
inline std::string to_json(const char* text) { return to_json(std::string_view(text)); }
std::string to_json(const std::filesystem::path& path);
std::string to_json(const Hash& hash);
std::string to_json(const SignKey& key);
std::string to_json(const std::vector<std::string>& texts);
std::string to_json(const std::pair<double, double>& bounds);
std::string to_json(const std::array<double, 2>& numbers);
std::string to_json(const std::vector<std::array<std::string, 2>>& pairs);
std::string to_json(const std::map<std::string, std::string>& texts);
/// One as a text, so that a list of one is the same.
std::string to_json(const Addresses& addresses);
std::string to_json(const std::map<std::string, Addresses>& addresses);

template <std::integral T>
std::string to_json(T number) {
  return to_json(static_cast<double>(number));  // Every range ends below 2^53.
}
template <class Word>
  requires std::is_enum_v<Word>
std::string to_json(Word word) {
  return to_json(name_of(word));
}
template <class T>
std::string to_json(const std::optional<T>& maybe) {
  return maybe ? to_json(*maybe) : "";  // An absent key has no default, and no text.
}

}  // namespace parley::charter
