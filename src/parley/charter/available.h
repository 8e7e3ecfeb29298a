// What a charter may say but this version cannot run, in one wording for all; and what it says
// where nobody chose.
#pragma once

#include <cstdint>
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

/// secure_aggregation.survivors: 0.8 of the owners, rounded up; of more than 50, who have few
/// neighbours each, 0.9.
int64_t usual_survivors(int64_t owners);

}  // namespace parley::charter
