#include "parley/plan/at_end.h"

#include <algorithm>

namespace parley::plan {

AtEnd at_end(const charter::Charter& charter) {
  const auto owners = static_cast<int64_t>(charter.owners.size());
  const bool sums = charter.secure_aggregation.has_value();
  if (charter.protocol.as<charter::Async>() || charter.network.quorum < owners) return {};
  if (sums && charter.secure_aggregation->survivors < owners) return {};
  const auto rounds = static_cast<uint32_t>(charter.answers());
  if (charter.protocol.on_alarm() != charter::OnAlarm::kContinue)
    return {.answers = std::min(rounds, 1u)};
  // A sum of the evaluation may fail as often as it may be repeated.
  return {.answers = rounds,
          .evaluated = charter.privacy.evaluate > 0 && !sums && !charter.columns_apart()};
}

}  // namespace parley::plan
