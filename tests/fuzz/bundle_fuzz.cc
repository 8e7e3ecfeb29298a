// No text crashes the reader of bundles or a transform by what it accepts; that has one text only.
#include <cmath>
#include <string_view>

#include "parley/data/rows.h"
#include "parley/data/transforms/transform.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace parley;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto bundle = data::bundle_from_json(text, "fuzz.json");
  if (!bundle) return check(!bundle.error().what.empty()), 0;
  check(data::to_json(*bundle) == text);
  data::Transform transform(*bundle);
  check(transform.features() == bundle->features().size());
  check(transform.features() <= data::kColumnsMax);
  std::vector<double> record(transform.inputs()), features(transform.features());
  for (size_t j = 0; j < record.size(); ++j) record[j] = j % 3 == 2 ? NAN : double(j);
  transform.apply(record, features);
  return 0;
}
