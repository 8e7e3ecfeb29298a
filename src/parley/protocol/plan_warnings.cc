#include "parley/protocol/plan_warnings.h"

#include <cmath>
#include <cstdio>

#include "parley/protocol/federated/plan.h"
#include "parley/protocol/owner_jobs.h"
#include "parley/protocol/owner_weights.h"
#include "parley/protocol/sync_plan.h"

namespace parley::protocol {
namespace {

std::string about(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", number);
  return text;
}

/// The largest eigenvalue of a positive definite matrix, from below, by its powers.
double largest(const std::vector<double>& matrix, size_t p) {
  std::vector<double> v(p), next(p);
  for (size_t j = 0; j < p; ++j) v[j] = 1 + static_cast<double>(j % 7) / 10;  // along no axis
  double value = 0;
  for (int k = 0; k < 100; ++k) {
    double squares = 0;
    for (size_t i = 0; i < p; ++i) {
      next[i] = 0;
      for (size_t j = 0; j < p; ++j) next[i] += matrix[i * p + j] * v[j];
      squares += next[i] * next[i];
    }
    value = std::sqrt(squares);
    if (!(value > 0)) return 0;
    for (size_t i = 0; i < p; ++i) v[i] = next[i] / value;
  }
  return value;
}

/// A direction in which public rows are nearly constant has hardly any curvature, and a Newton step
/// divides by it: noise alone then carries the model from one side of the box to the other.
void look_at_curvature(const learn::Schedule& schedule, double box, double variance,
                       std::vector<std::string>& found) {
  if (schedule.preconditioner.empty()) return;
  const double step = schedule.rounds.front().step *
                      largest(schedule.preconditioner, schedule.start.size()) * std::sqrt(variance);
  if (!(step > box)) return;
  found.push_back(
      "The pilot's curvature is nearly singular: in some direction the noise of one Newton step is "
      "about " +
      about(step) + ", and the box ends at " + about(box) +
      ", so the model will run to the box. Features that add up to a constant, such as all levels "
      "of a category beside a bias or beside another such category, do this: leave out a level or "
      "the bias, give a larger model.l2, or take rule = \"constant\".");
}

/// Of the noise in the mean gradient.
Result<double> mean_variance(const charter::Charter& charter, const SyncPlan& plan) {
  double variance = 0;
  for (size_t i = 0; i < plan.owners.size(); ++i)
    variance += std::pow(plan.owners[i].weight, 2) * TRY(noise_variance(charter, i));
  return variance;
}

Result<std::vector<std::string>> warnings_of_sums(const charter::Charter& charter,
                                                  const learn::Rows* pilot) {
  const FederatedPlan plan = TRY(federated_plan(charter, pilot));
  const gate::SharePlan shares = TRY(gate::share_plan(charter));
  const double all =
      std::visit([&](const auto& share) { return share.variance() * double(plan.owners.size()); },
                 shares.owners[0].mechanism);
  std::vector<std::string> found;
  look_at_curvature(plan.schedule, plan.box, all * plan.unit * plan.unit, found);
  return found;
}

/// Of copies the first: they are alike.
size_t learner_place(const charter::Charter& charter) {
  for (size_t i = 0; i < charter.owners.size(); ++i)
    if (charter.owners[i].name == charter.learner.name) return i;
  return 0;
}

}  // namespace

Result<std::vector<std::string>> plan_warnings(const charter::Charter& charter,
                                               const learn::Rows* pilot) {
  std::vector<std::string> found;
  const charter::Protocol& p = charter.protocol;
  if (p.name != charter::ProtocolName::kSync || p.rule != charter::Rule::kPilotNewton) return found;
  if (charter.secure_aggregation) return warnings_of_sums(charter, pilot);
  const bool apart = p.owner_learner && p.owner_learner != charter::OwnerLearner::kOwnNoise;
  const charter::Charter job =
      p.copies || apart ? job_of(charter, learner_place(charter)) : joint_job(charter);
  const SyncPlan plan = TRY(sync_plan(job, pilot));
  look_at_curvature(plan.schedule, plan.box, TRY(mean_variance(job, plan)), found);
  return found;
}

}  // namespace parley::protocol
