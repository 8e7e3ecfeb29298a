#include "parley/plan/sums/distance.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <variant>

#include "parley/learn/objective.h"
#include "parley/plan/learner/pilot.h"
#include "parley/plan/secagg_terms.h"

namespace parley::plan {

std::vector<double> distance_weights(std::span<const double> rows) {
  check(!rows.empty());
  std::vector<double> sorted(rows.begin(), rows.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t half = sorted.size() / 2;
  const double median = sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  std::vector<double> found;
  for (double n : rows) found.push_back(std::min(n, median));
  return found;
}

std::vector<double> distance_weights(const charter::Charter& charter) {
  std::vector<double> rows;
  for (const charter::Owner& owner : charter.owners)
    rows.push_back(static_cast<double>(owner.rows));
  return distance_weights(rows);
}

Result<std::shared_ptr<const learn::Whitened>> distance_metric(const charter::Charter& charter,
                                                               const data::Rows* pilot) {
  if (pilot == nullptr)
    return Error{Code::kInvalid,
                 "rule \"distance\" measures from the optimum of public rows, and there are none",
                 "Put the charter's pilot beside the charter, or beside the policy.",
                 {.key = "pilot"}};
  const auto hessian = learn::smoothed_hessian(charter::loss_of(charter.model), *pilot,
                                               pilot_optimum(charter, *pilot), learn::ClipIn::kNone,
                                               0, charter.model.l2);
  return std::make_shared<const learn::Whitened>(hessian, pilot->columns(),
                                                 charter.schema.bias_at());
}

Result<double> distance_noise(const charter::Charter& charter) {
  const SecaggPlan plan = TRY(secagg_plan(charter));
  const double share =
      std::visit([](const auto& known) { return known.variance(); }, plan.owners.front().mechanism);
  return std::sqrt(share * static_cast<double>(plan.owners.size())) * plan.unit;
}

}  // namespace parley::plan
