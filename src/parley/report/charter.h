// A charter's name and state, and errors, for programs.
#pragma once

#include <string>

#include "parley/base/result.h"
#include "parley/charter/charter.h"

namespace parley::report {

std::string to_json(const charter::Charter& charter);  // parley.charter/1
std::string to_json(const Error& error);               // formats/json: parley.error/1

}  // namespace parley::report
