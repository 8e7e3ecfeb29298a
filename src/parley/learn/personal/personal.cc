#include "parley/learn/personal/personal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "parley/learn/personal/cross_validation.h"
#include "parley/learn/personal/family.h"
#include "parley/learn/personal/mixture.h"

namespace parley::learn {
namespace {

/// The weights that mix the candidates of these centres; 0 for all others.
std::vector<double> weights_among(const std::vector<PersonalCandidate>& candidates,
                                  const PersonalInput& input,
                                  std::initializer_list<Centre> centres) {
  std::vector<size_t> chosen;
  std::vector<int> groups;
  std::vector<double> losses;
  for (size_t k = 0; k < candidates.size(); ++k) {
    const PersonalCandidate& candidate = candidates[k];
    if (std::find(centres.begin(), centres.end(), candidate.centre) == centres.end()) continue;
    chosen.push_back(k), groups.push_back(static_cast<int>(candidate.centre));
    losses.push_back(candidate.cv_loss +
                     (candidate.centre == Centre::kJoint ? input.joint_optimism : 0));
  }
  const double smallest = *std::min_element(losses.begin(), losses.end());
  const auto weights = mixture_weights(losses, equal_priors(groups), data::size_of(input.rows),
                                       mixture_temperature(input.loss, smallest));
  std::vector<double> result(candidates.size());
  for (size_t k = 0; k < chosen.size(); ++k) result[chosen[k]] = weights[k];
  return result;
}

std::vector<double> mixed(const std::vector<PersonalCandidate>& candidates,
                          const std::vector<double>& weights) {
  std::vector<double> theta(candidates.front().theta.size());
  for (size_t k = 0; k < candidates.size(); ++k)
    if (weights[k] > 0)  // One without weight may not be finite.
      for (size_t j = 0; j < theta.size(); ++j) theta[j] += weights[k] * candidates[k].theta[j];
  return theta;
}

/// A loss that is not finite, or of a model that is not, is infinite.
void take(PersonalModels& result, CrossValidated validated) {
  for (size_t k = 0; k < result.candidates.size(); ++k) {
    PersonalCandidate& candidate = result.candidates[k];
    candidate.theta = std::move(validated.models[k]);
    const bool finite = std::isfinite(validated.losses[k]) &&
                        std::all_of(candidate.theta.begin(), candidate.theta.end(),
                                    [](double value) { return std::isfinite(value); });
    candidate.cv_loss = finite ? validated.losses[k] : std::numeric_limits<double>::infinity();
  }
}

}  // namespace

std::string_view name_of(Centre centre) {
  constexpr std::array<std::string_view, 3> kNames = {"alone", "pilot", "joint"};
  return kNames[static_cast<size_t>(centre)];
}

std::string_view name_of(PullShape shape) {
  constexpr std::array<std::string_view, 4> kNames = {"identity", "hessian", "own bias", "itself"};
  return kNames[static_cast<size_t>(shape)];
}

const PersonalCandidate& best_alone(const std::vector<PersonalCandidate>& candidates) {
  const PersonalCandidate* best = &candidates.front();
  for (const PersonalCandidate& candidate : candidates)
    if (candidate.centre == Centre::kZero && candidate.cv_loss < best->cv_loss) best = &candidate;
  return *best;
}

Result<PersonalModels> personal_models(const PersonalInput& input, const PersonalOptions& options) {
  const Family family = TRY(family_of(input));
  PersonalModels result{.candidates = family.candidates,
                        .plan = fold_plan(data::size_of(input.rows))};
  take(result, TRY(cross_validate(input, family, result.plan, options)));
  std::vector<PersonalCandidate>& candidates = result.candidates;
  const PersonalCandidate& alone = best_alone(candidates);
  if (!std::isfinite(alone.cv_loss))
    return Error{Code::kInvalid, "no model of these rows has a finite loss",
                 "scale the columns and the label"};
  result.alone = alone.theta;
  result.alone_mixed = mixed(candidates, weights_among(candidates, input, {Centre::kZero}));
  result.own_public =
      mixed(candidates, weights_among(candidates, input, {Centre::kZero, Centre::kPilot}));
  const auto weights =
      weights_among(candidates, input, {Centre::kZero, Centre::kPilot, Centre::kJoint});
  for (size_t k = 0; k < candidates.size(); ++k) candidates[k].weight = weights[k];
  result.personal = mixed(candidates, weights);
  return result;
}

}  // namespace parley::learn
