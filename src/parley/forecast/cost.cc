#include "parley/forecast/cost.h"

#include <algorithm>

namespace parley::forecast {

/// Sizes as measured on the wire (`parley simulate` prints them), speeds as in
/// docs/reference/performance.md; both with some room.
void add_cost(Forecast& forecast, const charter::Charter& charter) {
  constexpr double kUp = 340, kUpEach = 6, kDown = 80, kDownEach = 8;  // bytes
  constexpr double kBytesPerSecond = 8e9, kAnswerSeconds = 1e-3;
  const auto p = static_cast<double>(charter.schema.features().size());
  const bool moments = charter.protocol.rule == charter::Rule::kStatistics;
  const double numbers = moments ? p * (p + 3) / 2 : p;
  const auto answers = static_cast<double>(charter.answers());
  double largest = 0;
  for (const charter::Owner& owner : charter.owners)
    largest = std::max(largest, static_cast<double>(owner.rows));
  forecast.rounds = static_cast<uint64_t>(charter.protocol.rounds);
  forecast.bytes_per_owner =
      static_cast<uint64_t>(answers * (kUp + kDown + kUpEach * numbers + kDownEach * p));
  forecast.seconds_per_round = kAnswerSeconds + largest * p * sizeof(double) / kBytesPerSecond;
}

}  // namespace parley::forecast
