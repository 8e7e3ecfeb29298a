// What owners bought under rule "distance" (plan/distance.h), read as tau, and what they would know
// of it before they buy.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/data/rows.h"
#include "parley/forecast/forecast.h"
#include "parley/forecast/value/tau.h"
#include "parley/learn/model.h"

namespace parley::forecast {

/// tau of a file that a job of rule "distance" left. `pilot` holds the public rows as that job read
/// them, by the file's own columns. Refuses a file of another kind.
Result<Tau> paid_tau(const learn::Model& file, const std::shared_ptr<const data::Rows>& pilot,
                     int threads = 1);

/// Of what several runs of one charter found.
std::vector<Tau> paid_taus(const charter::Charter& charter,
                           std::span<const learn::Distance> distances,
                           const std::shared_ptr<const data::Rows>& pilot, int threads = 1);

/// What rows of all owners say themselves, without noise: for simulations. The mean over owners of
/// their distances from the pilot's optimum, less what that is off by itself; may be below 0.
double exact_tau(const charter::Charter& charter,
                 std::span<const std::shared_ptr<const data::Rows>> owners,
                 const std::shared_ptr<const data::Rows>& pilot, int threads = 1);

/// cw of a charter that leaves its max_grad_norm open: the pilot's 95 % quantile.
double distance_clip(const charter::Charter& charter,
                     const std::shared_ptr<const data::Rows>& pilot, int threads = 1);

/// What the number of a complete charter of rule "distance" would tell, if tau were one of these.
Result<Forecast::DistanceForecast> forecast_distance(const charter::Charter& charter,
                                                     const std::shared_ptr<const data::Rows>& pilot,
                                                     std::span<const double> taus, int threads = 1);

}  // namespace parley::forecast
