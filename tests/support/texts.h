// Small schemas and files of texts, for tests of sources.
#pragma once

#include <string>
#include <vector>

#include "parley/data/schema.h"

namespace parley::test {

using Texts = std::vector<std::string>;

/// One feature `a`, and a target `y` as it stands.
inline data::Schema one_number() {
  return {.columns = {{.name = "a", .low = -1e6, .high = 1e6, .missing = -1}},
          .target = {.column = "y", .low = -1e6, .high = 1e6}};
}

/// Numbers f1 .. fn with bounds that hold 0.
inline data::Schema numbers(size_t n) {
  data::Schema schema;
  for (size_t j = 1; j <= n; ++j)
    schema.columns.push_back(
        {.name = "f" + std::to_string(j), .low = -100, .high = 100, .missing = 7});
  schema.target = {.column = "y", .levels = {"-1", "+1"}};
  return schema;
}

}  // namespace parley::test
