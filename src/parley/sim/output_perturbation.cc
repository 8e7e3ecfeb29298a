#include "parley/sim/output_perturbation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "parley/base/math/portable.h"
#include "parley/learn/objective.h"
#include "parley/learn/solver/box.h"
#include "parley/privacy/accounting/zcdp.h"
#include "parley/sim/seeded_entropy.h"

namespace parley::sim {
namespace {

using charter::Charter;

double uniform(Entropy& entropy) {
  return (static_cast<double>(entropy.word() >> 12) + 0.5) * 0x1p-52;
}

/// Newton's method over the box on the clipped fitness of one owner's rows.
class Solver {
 public:
  Solver(const Charter& charter, const learn::Rows& rows)
      : charter_(charter), rows_(rows), loss_(charter::loss_of(charter.model)) {}

  struct Solution {
    std::vector<double> theta;
    double gap = 0;
  };
  Solution solve() const {
    Point at = point(std::vector<double>(rows_.columns()));
    while (at.gap > 0) {
      const auto next = improved(at);
      if (!next) break;
      at = *next;
    }
    return {std::move(at.theta), at.gap};
  }

 private:
  struct Point {
    std::vector<double> theta, gradient;
    double gap = 0;
  };

  Point point(std::vector<double> theta) const {
    auto gradient = learn::mean_gradient(loss_, rows_, theta, learn::ClipIn::kL2,
                                         charter_.privacy.max_grad_norm);
    for (size_t j = 0; j < theta.size(); ++j) gradient[j] += charter_.model.l2 * theta[j];
    const double gap =
        learn::first_order_gap(theta, gradient, charter_.model.l2, charter_.model.box);
    return {std::move(theta), std::move(gradient), gap};
  }

  /// The first of the halved steps that makes the gap smaller; nothing once rounding is in the way.
  std::optional<Point> improved(const Point& at) const {
    const auto hessian = learn::clipped_hessian(loss_, rows_, at.theta, learn::ClipIn::kL2,
                                                charter_.privacy.max_grad_norm, charter_.model.l2);
    const auto step = learn::newton_step(at.theta, at.gradient, hessian, 0, charter_.model.box);
    for (double part = 1; part > 1e-3; part /= 2) {
      std::vector<double> theta = at.theta;
      for (size_t j = 0; j < theta.size(); ++j) theta[j] += part * step[j];
      Point next = point(std::move(theta));
      if (next.gap < 0.9 * at.gap) return next;
    }
    return std::nullopt;
  }

  const Charter& charter_;
  const learn::Rows& rows_;
  learn::Losses loss_;
};

Result<void> check_fits(const SimulateInput& input) {
  const charter::Model& model = input.charter.model;
  const auto refuse = [](const std::string& what, const std::string& key) {
    return Error{
        Code::kInvalid, "output perturbation " + what, "Leave out --baseline.", {.key = key}};
  };
  if (!(model.l2 > 0)) return refuse("needs model.l2 above 0", "model.l2");
  if (model.loss == charter::Loss::kHinge) return refuse("needs a smooth loss", "model.loss");
  if (!(input.charter.privacy.max_grad_norm > 0))
    return refuse("needs privacy.max_grad_norm", "privacy.max_grad_norm");
  for (const OwnerData& owner : input.owners)
    if (!std::holds_alternative<std::shared_ptr<const learn::Rows>>(owner.rows))
      return refuse("is for dense rows", "protocol.rule");
  return {};
}

/// epsilon and rho of the job, shared among overlapping data sets.
Result<double> noise_scale(const Charter& charter, const charter::Owner& owner,
                           double sensitivity) {
  const double epsilon = owner.epsilon * (1 - charter.privacy.evaluate);
  const auto overlap = static_cast<double>(charter.privacy.overlap);
  if (charter.privacy.mechanism == charter::MechanismName::kLaplace)
    return sensitivity * overlap / epsilon;
  const auto delta = TRY(privacy::Delta::make(owner.delta));
  return sensitivity * std::sqrt(overlap / (2 * privacy::zcdp_rho(epsilon, delta)));
}

}  // namespace

Result<OutputPerturbation> OutputPerturbation::make(const SimulateInput& input) {
  TRY(check_fits(input));
  const Charter& charter = input.charter;
  OutputPerturbation result;
  result.pure_ = charter.privacy.mechanism == charter::MechanismName::kLaplace;
  result.box_ = charter.model.box;
  double all = 0;
  for (const charter::Owner& owner : charter.owners) all += static_cast<double>(owner.rows);
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    const auto& rows = *std::get<std::shared_ptr<const learn::Rows>>(input.owners[i].rows);
    auto [theta, gap] = Solver(charter, rows).solve();
    const double l2 = charter.model.l2, n = static_cast<double>(rows.size());
    const double units = static_cast<double>(charter.privacy.unit_records);
    const double sensitivity = 2 * charter.privacy.max_grad_norm * units / (n * l2) +
                               2 * std::sqrt(2 * std::fmax(gap, 0.0) / l2);
    const double scale = TRY(noise_scale(charter, charter.owners[i], sensitivity));
    result.owners_.push_back(
        {charter.owners[i].name, std::move(theta), n / all, sensitivity, scale});
  }
  return result;
}

std::vector<double> OutputPerturbation::run(uint64_t seed, uint64_t run) const {
  std::vector<double> sum(owners_.front().theta.size());
  for (const Owner& owner : owners_) {
    SeededEntropy entropy(seed, "output:" + owner.name, run);
    std::vector<double> noise(sum.size());
    double squares = 0, radius = 0;  // A direction, and a length of Gamma(p) if epsilon is pure.
    for (double& value : noise) {
      value = normal_quantile(uniform(entropy));
      squares += value * value;
      radius -= std::log(uniform(entropy));
    }
    const double length = owner.scale * (pure_ ? radius / std::sqrt(squares) : 1);
    for (size_t j = 0; j < sum.size(); ++j)
      sum[j] += owner.weight * (owner.theta[j] + length * noise[j]);
  }
  for (double& value : sum) value = std::clamp(value, -box_, box_);
  return sum;
}

}  // namespace parley::sim
