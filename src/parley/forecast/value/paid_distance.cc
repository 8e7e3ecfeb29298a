#include "parley/forecast/value/paid_distance.h"

#include <utility>

#include "parley/plan/distance.h"

namespace parley::forecast {
namespace {

using RowsPointer = std::shared_ptr<const data::Rows>;

NormSum norm_sum(const PilotStatistics& pilot, double clip, std::vector<double> rows,
                 std::vector<double> weights, int threads) {
  return {.clip = clip,
          .square = clipped_square(pilot, pilot_scores(pilot, threads), clip),
          .pilot_rows = pilot.count(),
          .rows = std::move(rows),
          .weights = std::move(weights)};
}

Tau tau_of(const learn::Distance& paid, const PilotStatistics& pilot, double clip, int threads) {
  const NormSum sum =
      norm_sum(pilot, clip, {paid.rows.begin(), paid.rows.end()}, paid.weights, threads);
  return tau_from_norms(sum, paid.norm, paid.norm_error);
}

}  // namespace

Result<Tau> paid_tau(const learn::Model& file, const RowsPointer& pilot, int threads) {
  if (!file.distance)
    return Error{Code::kInvalid, "is no result of rule \"distance\": it says nothing about owners",
                 "Give the model.json that a job with that rule has left."};
  check(pilot != nullptr && pilot->columns() == file.theta.size());
  const PilotStatistics statistics = statistics_of(file.loss, file.l2, file.box, pilot, threads);
  return tau_of(*file.distance, statistics, file.card.max_grad_norm, threads);
}

std::vector<Tau> paid_taus(const charter::Charter& charter,
                           std::span<const learn::Distance> distances, const RowsPointer& pilot,
                           int threads) {
  const PilotStatistics statistics = statistics_of(charter.model, pilot, threads);
  std::vector<Tau> found;
  for (const learn::Distance& distance : distances)
    found.push_back(tau_of(distance, statistics, charter.privacy.max_grad_norm, threads));
  return found;
}

double exact_tau(const charter::Charter& charter, std::span<const RowsPointer> owners,
                 const RowsPointer& pilot, int threads) {
  const PilotStatistics statistics = statistics_of(charter.model, pilot, threads);
  double sum = 0;
  for (const RowsPointer& rows : owners) sum += distance_from_pilot(statistics, *rows);
  const double sampling = pilot_distances(statistics, pilot_scores(statistics, threads)).sampling;
  return sum / static_cast<double>(owners.size()) - sampling / statistics.count();
}

double distance_clip(const charter::Charter& charter, const RowsPointer& pilot, int threads) {
  const PilotStatistics statistics = statistics_of(charter.model, pilot, threads);
  return pilot_distances(statistics, pilot_scores(statistics, threads)).clip;
}

Result<Forecast::DistanceForecast> forecast_distance(const charter::Charter& charter,
                                                     const RowsPointer& pilot,
                                                     std::span<const double> taus, int threads) {
  const PilotStatistics statistics = statistics_of(charter.model, pilot, threads);
  std::vector<double> rows;
  for (const charter::Owner& owner : charter.owners)
    rows.push_back(static_cast<double>(owner.rows));
  const NormSum sum = norm_sum(statistics, charter.privacy.max_grad_norm, rows,
                               plan::distance_weights(charter), threads);
  Forecast::DistanceForecast found{.noise = TRY(plan::distance_noise(charter)),
                                   .alike = sum.expected(0)};
  for (const double tau : taus) {
    const double norm = sum.expected(tau);
    const MetricRange range = tau_range(tau_from_norms(sum, norm, found.noise));
    found.points.push_back({tau, norm, range.low, range.high});
  }
  return found;
}

}  // namespace parley::forecast
