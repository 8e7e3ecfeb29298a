#include "parley/sim/output_perturbation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "parley/base/math/portable.h"
#include "parley/learn/solver/prox.h"
#include "parley/plan/noise.h"
#include "parley/sim/seeded_entropy.h"

namespace parley::sim {
namespace {

using charter::Charter;

double uniform(Entropy& entropy) {
  return (static_cast<double>(entropy.word() >> 12) + 0.5) * 0x1p-52;
}

}  // namespace

Result<void> check_baseline(const SimulateInput& input) {
  const charter::Model& model = input.charter.model;
  const auto refuse = [](const std::string& what, const std::string& key,
                         const std::string& hint = "Leave out --baseline.") {
    return Error{Code::kInvalid,
                 "the baseline, noise on each owner's own model, " + what,
                 hint,
                 {.key = key}};
  };
  if (!(model.l2 > 0))
    return refuse(
        "needs model.l2 above 0: without it no bound says how far one record moves a model",
        "model.l2", "Give --set model.l2=0.001, or leave out --baseline.");
  if (model.loss == charter::Loss::kHinge) return refuse("needs a smooth loss", "model.loss");
  if (!(input.charter.privacy.max_grad_norm > 0))
    return refuse("needs privacy.max_grad_norm", "privacy.max_grad_norm");
  for (const OwnerData& owner : input.owners)
    if (!std::holds_alternative<std::shared_ptr<const data::Rows>>(owner.rows))
      return refuse("is for dense rows", "protocol.rule");
  return {};
}

Result<OutputPerturbation> OutputPerturbation::make(const SimulateInput& input) {
  TRY(check_baseline(input));
  const Charter& charter = input.charter;
  OutputPerturbation result;
  result.pure_ = charter.privacy.mechanism == charter::MechanismName::kLaplace;
  result.box_ = charter.model.box;
  double all = 0;
  for (const charter::Owner& owner : charter.owners) all += static_cast<double>(owner.rows);
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    const double l2 = charter.model.l2, clip = charter.privacy.max_grad_norm;
    const double n = static_cast<double>(data::size_of(input.owners[i].rows));
    const double moved =
        plan::minimum_moves(clip, static_cast<uint32_t>(charter.privacy.unit_records),
                            data::size_of(input.owners[i].rows), l2);
    const learn::Prox own{.center = std::vector<double>(charter.schema.features().size()),
                          .pull = 0,
                          .l2 = l2,
                          .box = charter.model.box,
                          .norm = learn::ClipIn::kL2,
                          .limit = clip};
    auto [theta, distance] = learn::prox_minimum(charter::loss_of(charter.model),
                                                 input.owners[i].rows, own, 1e-6 * moved);
    const double sensitivity = moved + 2 * distance;
    const double scale = TRY(plan::noise_scale(charter, charter.owners[i], sensitivity, 1));
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
