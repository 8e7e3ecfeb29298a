// What a charter makes of an owner's data, as `parley data describe --charter` says it. All but the
// number of rows depends on what the records contain: for the owner's own eyes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "parley/data/encode.h"
#include "parley/data/schema.h"

namespace parley::report {

struct Description {
  std::string source;
  std::optional<uint64_t> charter_rows;  // where it is known which owner this is
  data::Schema schema;
  std::string unit;  // as in the charter
  data::Counts counts;
};

std::string to_text(const Description& description);
std::string to_json(const Description& description);  // parley.reading/1

}  // namespace parley::report
