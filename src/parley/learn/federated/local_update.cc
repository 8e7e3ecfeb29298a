#include "parley/learn/federated/local_update.h"

#include <algorithm>
#include <cmath>

#include "parley/base/math/number.h"
#include "parley/learn/federated/shrink.h"

namespace parley::learn {
namespace {

/// The finest that the kernel has: one record's share of a sum is only 1/n.
constexpr int kGridBits = 32;

/// 1 - (1 - x)^k without cancellation, rounded up.
double shrinkage(double x, double k) {
  return std::min(1.0, -std::expm1(k * std::log1p(-x)) * (1 + 0x1p-40));
}

}  // namespace

LocalPlan with_falling_steps(LocalPlan plan) {
  check(plan.l2 > 0);
  const double smooth = smoothness_of(plan.loss) * plan.max_row_norm * plan.max_row_norm + plan.l2;
  plan.delay = std::max(8 * smooth / plan.l2 - 1, static_cast<double>(plan.steps));
  plan.step *= 2 / (plan.l2 * plan.delay);
  return plan;
}

Result<LocalUpdate> LocalUpdate::make(const LocalPlan& plan) {
  check(plan.rows > 0 && plan.steps >= 1 && plan.max_row_norm > 0 && plan.weight > 0);
  const double smooth = smoothness_of(plan.loss), slope = lipschitz_of(plan.loss);
  const bool one_step = plan.steps == 1 && plan.delay == 0;
  if (smooth == kUnbounded && !one_step && !(plan.max_update > 0))
    return Error{Code::kInvalid,
                 "several local steps need a smooth loss, and " + std::string(name_of(plan.loss)) +
                     " is not",
                 "Take local_steps = 1, level = \"party\", or loss logistic or huber.",
                 {.key = "model.loss"}};
  if (slope == kUnbounded && !(plan.max_grad_norm > 0))
    return Error{Code::kInvalid,
                 "local steps of this loss need a bound on a record's gradient",
                 "Set max_grad_norm in [privacy].",
                 {.key = "privacy.max_grad_norm"}};
  double bound = slope * plan.max_row_norm;
  if (plan.max_grad_norm > 0) bound = std::min(bound, plan.max_grad_norm);
  const Lattice lattice = TRY(Lattice::make(bound, kGridBits, plan.dimension));
  const double norm = plan.max_row_norm;
  const LocalUpdate update(plan, lattice, smooth * norm * norm + plan.l2);
  if (smooth != kUnbounded && !(plan.step > 0 && plan.step <= update.step_max() * (1 - 0x1p-40)))
    return Error{Code::kInvalid,
                 "step " + shortest(plan.step) + " is not in (0, " + shortest(update.step_max()) +
                     "), 2/(L + l2): larger ones have no proved bound",
                 "Lower step, or max_row_norm.",
                 {.key = "protocol.step"}};
  return update;
}

double LocalUpdate::sensitivity() const {
  if (plan_.max_update > 0) return 2 * plan_.weight * plan_.max_update * (1 + 0x1p-40);
  const double lam = plan_.l2, k = static_cast<double>(plan_.steps);
  const double share =
      2 * plan_.weight * lattice_.max_grad_norm() / static_cast<double>(plan_.rows);
  const double linear = share * plan_.step * k;
  if (plan_.steps == 1) return linear * plan_.unit_records * (1 + 0x1p-40);
  const double curved = lam > 0 ? share / lam * shrinkage(plan_.step * lam, k) : linear;
  return std::min(linear, curved) * plan_.unit_records * (1 + 0x1p-40);
}

double LocalUpdate::sensitivity_on(double gamma) const {
  const double k = plan_.max_update > 0 ? 0 : static_cast<double>(plan_.steps);
  const double apart = plan_.steps > 1 ? k : 0;  // Steps at points that differ between worlds.
  const double each = gamma + plan_.weight * plan_.step * apart * lattice_.gamma() +
                      plan_.weight * 0x1p-40 * k * std::max(1.0, plan_.box);
  const double all = each * std::sqrt(static_cast<double>(plan_.dimension));
  return (sensitivity() + all) / gamma * (1 + 0x1p-40);
}

double LocalUpdate::largest() const {
  const double k = static_cast<double>(plan_.steps), way = plan_.step * k;
  const double far = plan_.box * std::sqrt(static_cast<double>(plan_.dimension));
  const double by_steps =
      way * (lattice_.max_grad_norm() + plan_.l2 * (far + way * lattice_.max_grad_norm()));
  const double most = std::min(by_steps, 2 * plan_.box);
  return plan_.weight * (plan_.max_update > 0 ? std::min(most, plan_.max_update) : most);
}

std::vector<double> LocalUpdate::run(std::span<const double> theta, const Mean& mean,
                                     uint64_t done) const {
  check(theta.size() == plan_.dimension);
  std::vector<double> v(theta.begin(), theta.end());
  for (int64_t k = 0; k < plan_.steps; ++k) {
    const double t = static_cast<double>(done) + static_cast<double>(k);
    const double step =
        plan_.delay > 0 ? plan_.step * (plan_.delay / (plan_.delay + t)) : plan_.step;
    const std::vector<double> gradient = mean(v);
    for (size_t j = 0; j < v.size(); ++j) {
      const double slope = gradient[j] + plan_.l2 * v[j];
      v[j] = std::clamp(v[j] - step * slope, -plan_.box, plan_.box);
    }
  }
  for (size_t j = 0; j < v.size(); ++j) v[j] -= theta[j];
  const double by = plan_.weight * (plan_.max_update > 0 ? shrink_factor(v, plan_.max_update) : 1);
  for (double& value : v) value *= by;
  return v;
}

std::vector<int64_t> LocalUpdate::rounded(std::span<const double> update, double gamma) const {
  const double most = std::floor(largest() / gamma);
  std::vector<int64_t> integers(update.size());
  for (size_t j = 0; j < update.size(); ++j)
    integers[j] = static_cast<int64_t>(std::clamp(std::nearbyint(update[j] / gamma), -most, most));
  return integers;
}

}  // namespace parley::learn
