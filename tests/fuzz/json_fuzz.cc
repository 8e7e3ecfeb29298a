// No text crashes the reader of models; what it accepts comes back from its own writer.
#include <string_view>

#include "parley/learn/model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace parley;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto model = learn::model_from_json(text, "fuzz.json");
  if (!model) return check(!model.error().what.empty()), 0;
  const auto again = learn::model_from_json(learn::to_json(*model), "again.json");
  check(bool(again) && again->theta == model->theta && again->schema == model->schema);
  return 0;
}
