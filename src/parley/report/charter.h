// A charter that was checked, and errors, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "parley/base/result.h"
#include "parley/charter/charter.h"

namespace parley::report {

/// Valid, and which keys a draft leaves open.
std::string to_text(const charter::Charter& charter);
std::string to_json(const charter::Charter& charter);  // parley.charter/1
std::string to_json(const Error& error);               // formats/json: parley.error/1

/// An error as a part of another result.
nlohmann::ordered_json json_of_part(const Error& error);

}  // namespace parley::report
