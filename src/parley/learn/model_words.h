// Words of the model file, shared by its writer and its reader.
#pragma once

#include <array>
#include <string_view>

namespace parley::learn {

inline constexpr std::string_view kModelFormat = "parley.model/1";
inline constexpr std::array<std::string_view, 2> kKinds = {"number", "category"};
inline constexpr std::array<std::string_view, 2> kEncodes = {"integer", "one_hot"};

}  // namespace parley::learn
