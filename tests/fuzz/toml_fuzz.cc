// No text crashes the readers of charters and policies; a good charter explains itself and has a
// canonical text.
#include <string_view>

#include "parley/charter/charter.h"
#include "parley/charter/policy.h"
#include "parley/plan/explain.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace parley;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto charter = charter::parse_charter(text, "fuzz.toml", "/nowhere");
  if (charter)
    check(!charter->canonical.empty() && !plan::explain(*charter).empty());
  else
    check(!charter.error().what.empty());
  const auto policy = charter::parse_policy(text, "fuzz.toml");
  if (!policy) return check(!policy.error().what.empty()), 0;
  if (charter)
    if (const auto data_set = policy->dataset_for(*charter))
      static_cast<void>(bool(charter::source_of(*policy, **data_set, *charter)));
  return 0;
}
