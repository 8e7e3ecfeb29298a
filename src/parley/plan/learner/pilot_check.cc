#include "parley/plan/learner/pilot_check.h"

#include <cmath>
#include <utility>

#include "parley/base/math/number.h"
#include "parley/learn/pilot/loss_after.h"
#include "parley/learn/statistics.h"
#include "parley/plan/learner/pilot.h"
#include "parley/plan/secagg_terms.h"

namespace parley::plan {
namespace {

/// The variance of each owner's noise in the mean of all; equal for all shares of a secure sum.
Result<std::vector<double>> noise_in_mean(const charter::Charter& charter,
                                          const std::vector<PlannedOwner>& owners) {
  std::vector<double> variances;
  if (charter.secure_aggregation) {
    const SecaggPlan plan = TRY(secagg_plan(charter));
    const double share = std::visit([](const auto& known) { return known.variance(); },
                                    plan.owners.front().mechanism);
    return std::vector(owners.size(), share * plan.unit * plan.unit);
  }
  for (size_t i = 0; i < owners.size(); ++i)
    variances.push_back(owners[i].weight * owners[i].weight * TRY(noise_variance(charter, i)));
  return variances;
}

Result<learn::RecordClip> clip_in(const charter::Charter& charter) {
  if (charter.secure_aggregation)
    return clip_of(charter, TRY(secagg_plan(charter)).owners[0].lattice());
  return clip_of(charter, TRY(terms_for(charter, 0)).lattice);
}

/// The mean of z z', its upper triangle row by row.
std::vector<double> second_moments(const data::Rows& rows) {
  const size_t p = rows.columns();
  std::vector<double> sums;
  for (size_t j = 0; j < p; ++j)
    for (size_t k = j; k < p; ++k) {
      double sum = 0;
      for (size_t i = 0; i < rows.size(); ++i) sum += rows.row(i)[j] * rows.row(i)[k];
      sums.push_back(sum / static_cast<double>(rows.size()));
    }
  return sums;
}

}  // namespace

Result<std::optional<PilotTest>> PilotTest::make(const charter::Charter& charter,
                                                 const data::Rows* pilot,
                                                 const learn::Schedule& schedule,
                                                 const std::vector<PlannedOwner>& owners) {
  std::optional<PilotTest> none;
  if (charter.protocol.rule() != charter::Rule::kPilotNewton) return none;
  check(pilot != nullptr && !schedule.preconditioner.empty());
  PilotTest test;
  test.pilot_ = {.rows = std::make_shared<data::Rows>(*pilot),
                 .loss = charter::loss_of(charter.model),
                 .l2 = charter.model.l2,
                 .box = charter.model.box,
                 .theta = schedule.start,
                 .fitted = charter.protocol.start == charter::Start::kPilot};
  test.clip_ = TRY(clip_in(charter));
  test.steps_ = schedule;
  if (charter.protocol.gram_after_alarm())
    test.gram_ = {gram_noise(TRY(gram_job(charter))),
                  learn::smoothness_of(charter::loss_of(charter.model))};
  const auto variances = TRY(noise_in_mean(charter, owners));
  for (size_t i = 0; i < owners.size(); ++i)
    test.owners_.push_back({owners[i].weight, static_cast<double>(owners[i].rows), variances[i]});
  test.on_alarm_ = charter.protocol.on_alarm();
  test.tau_ = charter.protocol.as<charter::Sync>()->tau;
  return std::optional(std::move(test));
}

learn::PilotCheck PilotTest::look_at(std::span<const double> gradient,
                                     std::span<const size_t> present) const {
  double weight = 0, squares = 0, variance = 0, weights = 0;
  for (const size_t owner : present) {
    const Share& share = owners_[owner];
    weight += share.weight;
    squares += share.weight * share.weight / share.rows;
    variance += share.variance;
    weights += share.weight * share.weight;
  }
  learn::PilotFit pilot = pilot_;
  pilot.hessian = learn::smoothed_hessian(pilot.loss, *pilot.rows, pilot.theta,
                                          learn::ClipIn::kNone, 0, pilot.l2);
  const double deviation = std::sqrt(variance) / weight;
  auto found = learn::check_pilot(pilot, clip_,
                                  {.gradient = {gradient.begin(), gradient.end()},
                                   .rows = weight * weight / squares,
                                   .deviation = deviation,
                                   .tau = tau_,
                                   .squares = weights / (weight * weight)});
  check(bool(found));  // Noise alone makes the covariance regular.
  if (found->alarm) found->left = left(pilot.hessian, deviation, std::fmax(found->gap, 0));
  return *found;
}

/// The loss to expect if the job stops, goes on, or asks for a Gram matrix, which is taken to be
/// the pilot's with noise.
learn::PilotCheck::Left PilotTest::left(std::span<const double> hessian, double deviation,
                                        double gap) const {
  learn::PilotCheck::Left found{.stop = gap,
                                .go_on = learn::loss_after(steps_, hessian, deviation, gap)};
  if (!gram_) return found;
  learn::Schedule steps = learn::gram_steps(kAfterAlarmRounds, pilot_.theta);
  steps.preconditioner = learn::gram_inverse(second_moments(*pilot_.rows), pilot_.dimension(),
                                             gram_->curvature, pilot_.l2, gram_->noise.floor);
  found.gram = {.loss = learn::loss_after(steps, hessian, gram_->noise.gradient, gap),
                .entry = gram_->noise.entry,
                .floor = gram_->noise.floor};
  return found;
}

namespace {

std::string to_text(const learn::PilotCheck::Left& left) {
  std::string text =
      " Forecast again with what is left, the loss above that best: " + significant(left.stop) +
      " for the pilot's model, " + significant(left.go_on) + " if its steps go on";
  if (left.gram)
    text += ", " + significant(left.gram->loss) +
            " with a Gram matrix of the owners' records (noise " + significant(left.gram->entry) +
            " on an entry; eigenvalues below " + significant(left.gram->floor) + " are noise)";
  return text + ".";
}

}  // namespace

std::string to_text(const learn::PilotCheck& check) {
  const std::string numbers =
      "Q = " + significant(check.statistic) + ", expected up to " + significant(check.threshold);
  if (!check.alarm) return "The first paid answers are as the pilot predicts (" + numbers + ").";
  return "The owners' rows are unlike the pilot: the first paid answers are not what it predicts "
         "(" +
         numbers + "). Their best model is about " + significant(check.gap) +
         " lower in loss than the pilot's, by the pilot's Hessian." +
         (check.left ? to_text(*check.left) : "");
}

}  // namespace parley::plan
