// Names of enumerators, as a file writes them: one list for each enumeration, in its order.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace parley::charter {

/// Specialised for every enumeration that a key may take: kNames<Start> = names("zero", "pilot").
template <class Word>
inline constexpr int kNames = 0;

template <class... Name>
constexpr auto names(Name... name) {
  return std::array<std::string_view, sizeof...(Name)>{name...};
}

template <class Word>
constexpr std::string_view name_of(Word word) {
  return kNames<Word>[static_cast<size_t>(word)];
}

}  // namespace parley::charter
