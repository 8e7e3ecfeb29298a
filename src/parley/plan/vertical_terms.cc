#include "parley/plan/vertical_terms.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/base/math/number.h"
#include "parley/learn/kernel/statistics_map.h"
#include "parley/learn/vertical/joint_moments.h"
#include "parley/plan/budget.h"
#include "parley/plan/can_run.h"

namespace parley::plan {
namespace {

using charter::Charter, charter::not_available;

Error bad(const std::string& key, const std::string& what, const std::string& hint) {
  return {Code::kInvalid, what, hint, {.key = key}};
}

constexpr int kFinest = 20, kCoarsest = 10;  // bits of the rows

/// R_m as the charter says.
learn::JointPlan plan_of(const Charter& charter) {
  learn::JointPlan plan{.balls = part_balls(charter),
                        .fraction = static_cast<int>(charter.privacy.grid_bits),
                        .bits = kFinest,
                        .rows = static_cast<uint64_t>(charter.records->count)};
  for (const charter::Owner& owner : charter.owners) plan.row_norms.push_back(owner.max_row_norm);
  return plan;
}

/// Every owner is charged for the whole sum, so it is what the strictest promise buys.
Result<privacy::Rho> smallest_rho(const Charter& charter) {
  auto smallest = TRY(rho_for(charter, charter.owners[0], Part::kTraining));
  for (const charter::Owner& owner : charter.owners) {
    const auto rho = TRY(rho_for(charter, owner, Part::kTraining));
    if (rho.value() < smallest.value()) smallest = rho;
  }
  return smallest;
}

/// A bound that rounding would use up, or that integers cannot hold, bounds nothing.
Result<void> check_norms(const Charter& charter, const learn::JointPlan& plan) {
  for (size_t i = 0; i < plan.row_norms.size(); ++i) {
    const double rounding =
        std::sqrt(double(part_schema(charter, i).features().size())) * std::ldexp(1.0, -plan.bits);
    if (plan.row_norms[i] > rounding && plan.row_norms[i] < 0x1p20) continue;
    return bad(
        "owner[" + std::to_string(i) + "].max_row_norm",
        "is " + shortest(plan.row_norms[i]) + ", not between " + shortest(rounding) + " and 2^20",
        "Scale max_row_norm to about 1.");
  }
  return {};
}

/// The finest grid of the rows on which all sums fit 64 bits.
Result<privacy::Gaussian> fit(learn::JointPlan& plan, uint32_t rounds, privacy::Rho rho,
                              bool moments) {
  for (plan.bits = kFinest; plan.bits >= kCoarsest; --plan.bits) {
    const double sensitivity = moments ? learn::moments_sensitivity(plan) : plan.sensitivity();
    const auto noise = privacy::Gaussian::calibrate(sensitivity, rounds, rho);
    if (!noise || noise->scale() >= 0x1p56) continue;
    if (moments ? learn::moments_fit(plan, noise->scale()) : plan.fits(noise->scale()))
      return *noise;
  }
  return bad("privacy.grid_bits", "the sums of so many records do not fit 64 bits",
             moments ? "Use fewer records." : "Use fewer grid_bits.");
}

/// V-C: a part of the model is bounded by the box alone, and off the diagonal noise has half the
/// variance.
Result<privacy::Gaussian> open_moments(const Charter& charter, VerticalTerms& terms) {
  size_t all = 0;
  for (const size_t columns : terms.columns) all += columns;
  if (all > learn::kStatisticsColumnsMax)
    return bad("protocol.rule",
               "statistics are for at most " + std::to_string(learn::kStatisticsColumnsMax) +
                   " features, found " + std::to_string(all),
               "Take rule = \"gradients\".");
  for (size_t m = 0; m < terms.columns.size(); ++m)
    terms.plan.balls[m] = charter.model.box * std::sqrt(static_cast<double>(terms.columns[m]));
  return privacy::Gaussian::make(std::ceil(terms.noise.variance() / 2));
}

/// V-A: `step` is rho, and what a party aims at is cut to the largest score of a whole record.
Result<learn::NoisySharingPlan> noisy_plan(const Charter& charter, const learn::JointPlan& plan) {
  if (!(charter.model.l2 > 0))
    return bad("model.l2", "must be above 0 for rule noisy_sharing, which its bound divides by",
               "For example l2 = 0.001.");
  const double momentum = charter.protocol.as<charter::Vertical>()->momentum;
  if (momentum > 0)
    return not_available("protocol.momentum", shortest(momentum),
                         "ADMM has none: leave momentum out.");
  return learn::NoisySharingPlan{.rows = plan.rows,
                                 .lam = charter.model.l2 * static_cast<double>(plan.rows),
                                 .rho = charter.protocol.step,
                                 .row_norms = plan.row_norms,
                                 .balls = plan.balls,
                                 .target_clip = plan.row_norm() * plan.model_norm(),
                                 .fraction = plan.fraction};
}

/// A step whose error might exceed what the sensitivity allows would have to be stopped, and who
/// sees that learns something about the records.
Result<void> check_rounding(const learn::NoisySharingPlan& plan,
                            const std::vector<size_t>& columns) {
  for (size_t m = 0; m < columns.size(); ++m)
    if (!(plan.rounding(m, columns[m]) <= plan.tolerance(m)))
      return bad("owner.rows",
                 "are so many, or model.l2 so small, that rounding in a step of rule "
                 "noisy_sharing cannot be bounded",
                 "Take rule = \"gradients\".");
  return {};
}

}  // namespace

size_t VerticalTerms::numbers(size_t owner) const {
  if (noisy) return plan.rows;
  return beside ? learn::MomentsLayout(columns, label_holder).size() : columns[owner];
}

bool holds_label(const Charter& charter, size_t owner) {
  return charter.owners[owner].name == charter.target_owner;
}

data::Schema part_schema(const Charter& charter, size_t owner) {
  data::Schema schema;
  for (size_t i = 0; i < charter.schema.columns.size(); ++i)
    if (charter.column_owners[i] == charter.owners[owner].name)
      schema.columns.push_back(charter.schema.columns[i]);
  schema.target = charter.schema.target;
  schema.bias = charter.schema.bias && holds_label(charter, owner);
  return schema;
}

double row_norm_of(const Charter& charter) {
  learn::JointPlan plan;
  for (const charter::Owner& owner : charter.owners) plan.row_norms.push_back(owner.max_row_norm);
  return plan.row_norm();
}

std::vector<double> part_balls(const Charter& charter) {
  const double whole = row_norm_of(charter);
  const auto* vertical = charter.protocol.as<charter::Vertical>();
  const double ball = vertical ? vertical->model_ball : 0;  // ADMM has no bound.
  std::vector<double> balls;
  for (const charter::Owner& owner : charter.owners)
    balls.push_back(ball * owner.max_row_norm / whole);
  return balls;
}

learn::JointSteps joint_steps(const Charter& charter) {
  const auto* vertical = charter.protocol.as<charter::Vertical>();
  check(vertical != nullptr);
  const int64_t rounds = charter.protocol.rounds;
  const bool tail = vertical->average == charter::Average::kTail;
  return {.step = charter.protocol.step,
          .momentum = vertical->momentum,
          .l2 = charter.model.l2 / 2,
          .rounds = rounds,
          .averaged = tail ? std::max<int64_t>(1, rounds / 4) : 1};
}

Result<learn::JointPlan> columns_plan(const Charter& charter) {
  TRY(check_columns(charter));
  learn::JointPlan plan = plan_of(charter);
  TRY(check_norms(charter, plan));
  return plan;
}

Result<VerticalTerms> vertical_terms(const Charter& charter) {
  TRY(charter::check_protects(charter));
  learn::JointPlan plan = TRY(columns_plan(charter));
  const auto rounds = static_cast<uint32_t>(charter.protocol.rounds);
  const auto rho = TRY(smallest_rho(charter));
  const bool moments = charter.protocol.statistics();
  auto noise = TRY(fit(plan, rounds, rho, moments));
  TRY(check_norms(charter, plan));
  double sensitivity = moments ? learn::moments_sensitivity(plan) : plan.sensitivity();
  std::optional<learn::NoisySharingPlan> noisy;
  if (charter.protocol.rule() == charter::Rule::kNoisySharing) {
    noisy = TRY(noisy_plan(charter, plan));
    sensitivity = noisy->sensitivity();
    noise = TRY(privacy::Gaussian::calibrate(sensitivity, rounds, rho));
  }
  VerticalTerms terms{.charter = charter.hash,
                      .rule = charter.protocol.as<charter::Vertical>()->rule,
                      .rounds = rounds,
                      .plan = std::move(plan),
                      .steps = joint_steps(charter),
                      .loss = charter::loss_of(charter.model),
                      .l2 = charter.model.l2,
                      .box = charter.model.box,
                      .intersect = charter.records->on_mismatch == charter::OnMismatch::kIntersect,
                      .sensitivity = sensitivity,
                      .noise = noise,
                      .noisy = std::move(noisy)};
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    terms.columns.push_back(part_schema(charter, i).features().size());
    if (holds_label(charter, i)) terms.label_holder = i;
  }
  if (terms.noisy) TRY(check_rounding(*terms.noisy, terms.columns));
  if (moments) terms.beside = TRY(open_moments(charter, terms));
  return terms;
}

Result<double> sharing_epsilon(const charter::Charter& charter, const VerticalTerms& terms,
                               size_t owner) {
  double rho = 0;
  const double cost = terms.noise.cost(terms.sensitivity).amount;
  for (uint32_t round = 0; round < terms.rounds; ++round) rho = add_up(rho, cost);
  return epsilon_of(rho, charter.owners[owner].delta);
}

}  // namespace parley::plan
