// What checking a model against its transcript showed, for people and for programs.
#pragma once

#include <string>

#include "parley/protocol/verify/verify.h"

namespace parley::report {

std::string to_text(const protocol::VerifyResult& result);
std::string to_json(const protocol::VerifyResult& result);  // parley.verify/1

}  // namespace parley::report
