// No text crashes the readers of what parties of a model over columns give each other, manifests
// and masked scores, and of a part of such a model; what is read comes back from its own writer.
#include <string_view>

#include "parley/learn/vertical/model_part.h"

namespace {

using namespace parley;

template <class T>
void read(const Result<T>& value, Result<T> (*from_json)(std::string_view, const std::string&)) {
  if (!value) return check(!value.error().what.empty());
  const auto again = from_json(learn::to_json(*value), "again.json");
  check(again && *again == *value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read(learn::manifest_from_json(text, "fuzz.json"), learn::manifest_from_json);
  read(learn::part_from_json(text, "fuzz.json"), learn::part_from_json);
  const auto scores = learn::scores_from_json(text, "fuzz.json");
  read(scores, learn::scores_from_json);
  if (!scores) return 0;
  const learn::MaskedScores both[] = {*scores, *scores};  // One party speaks for both.
  const learn::Manifest manifest{.charter = scores->charter,
                                 .parts = {{scores->owner, scores->part}, {"another", {}}}};
  check(!learn::opened(manifest, both));
  return 0;
}
