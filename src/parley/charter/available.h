// What a charter may say but this version cannot run: one wording for all.
#pragma once

#include <string>
#include <string_view>

#include "parley/base/result.h"

namespace parley::charter {

inline Error not_available(const std::string& key, std::string_view value,
                           const std::string& instead) {
  return {.code = Code::kInvalid,
          .what = "\"" + std::string(value) + "\" is not available in this version",
          .hint = instead,
          .where = {.key = key}};
}

}  // namespace parley::charter
