#include "parley/forecast/cost.h"

#include <algorithm>

#include "parley/forecast/jobs.h"
#include "parley/forecast/trained_rows.h"
#include "parley/plan/learner/neighbours.h"

namespace parley::forecast {
namespace {

constexpr double kBytesPerSecond = 8e9;  // of rows that a step passes over

double largest_owner(const charter::Charter& charter) {
  double largest = 0;
  for (const charter::Owner& owner : charter.owners)
    largest = std::max(largest, static_cast<double>(owner.rows));
  return largest;
}

/// Secure aggregation (spec, vertical 4.4): k neighbours, each with keys, sealed shares and opened
/// ones, and a vector of 8 bytes a number; in a sparse graph also a number of every owner, of which
/// the graph is drawn, and consents of more than half of all.
CostForecast aggregations(const charter::Charter& charter) {
  constexpr double kAgree = 1e-4, kMasksPerSecond = 1e9;  // two key agreements; bytes
  const auto p = static_cast<double>(charter.schema.features().size());
  const auto m = static_cast<double>(charter.owners.size());
  const auto planned = plan::neighbours_of(charter);
  const plan::Neighbours near = planned ? *planned : plan::Neighbours{};
  const bool sparse = near.degree > 0;
  const double k = sparse ? static_cast<double>(near.degree) : m - 1;
  const double up = 770 + 135 * k + 8 * p + (sparse ? 120 : 0);  // as measured
  const double down = 260 + 312 * k + 8 * p + (sparse ? 66 * k + 32 * m : 0) +
                      64 * (static_cast<double>(near.consents) - (sparse ? 0 : k));
  const auto rounds = static_cast<double>(charter.protocol.rounds);
  const double pass = largest_owner(charter) * p * sizeof(double) / kBytesPerSecond;
  CostForecast cost{.rounds = static_cast<uint64_t>(charter.protocol.rounds)};
  cost.bytes_per_owner = static_cast<uint64_t>(rounds * (up + down));
  cost.seconds_per_round = 5e-3 + static_cast<double>(charter.protocol.local_steps()) * pass +
                           k * kAgree + 8 * p * (k + 1) / kMasksPerSecond;
  return cost;
}

/// Secret-shared gradients: every owner sends its masked columns to every other once, and then in
/// each round a masked score of every record and its share of the other's gradient.
CostForecast sharing(const charter::Charter& charter) {
  const auto owners = feature_owners(charter);
  const auto p = static_cast<double>(owners.size()), n = owners_rows(charter);
  const auto parties = static_cast<double>(charter.owners.size());
  const auto rounds = static_cast<double>(charter.protocol.rounds);
  const bool once = charter.protocol.statistics();
  const double mean = p / parties;  // columns of one owner
  const double setup = 8 * n * mean * (parties - 1);
  // Of statistics the product of columns with columns, once: n words for each column of the other.
  const double round = 8 * (parties - 1) * (once ? n * mean + mean * p : n + p);
  CostForecast cost{.rounds = static_cast<uint64_t>(charter.protocol.rounds)};
  cost.bytes_per_owner = static_cast<uint64_t>(2 * (setup + rounds * round));  // both ways
  cost.seconds_per_round =
      5e-3 + n * p * sizeof(double) * (once ? mean : parties) / kBytesPerSecond;
  return cost;
}

}  // namespace

/// Sizes as measured on the wire (`parley simulate` prints them), speeds as in
/// docs/reference/performance.md; both with some room.
CostForecast cost_of(const charter::Charter& charter) {
  constexpr double kUp = 340, kUpEach = 6, kDown = 80, kDownEach = 8;  // bytes
  constexpr double kAnswerSeconds = 1e-3;
  if (charter.secure_aggregation) return aggregations(charter);
  if (charter.columns_apart()) return sharing(charter);
  const auto p = static_cast<double>(charter.schema.features().size());
  const bool moments = charter.protocol.statistics();
  const double numbers = moments ? p * (p + 3) / 2 : p;
  const auto answers = static_cast<double>(charter.answers());
  const double largest = largest_owner(charter);
  CostForecast cost{.rounds = static_cast<uint64_t>(charter.protocol.rounds)};
  cost.bytes_per_owner =
      static_cast<uint64_t>(answers * (kUp + kDown + kUpEach * numbers + kDownEach * p));
  cost.seconds_per_round = kAnswerSeconds + largest * p * sizeof(double) / kBytesPerSecond;
  return cost;
}

}  // namespace parley::forecast
