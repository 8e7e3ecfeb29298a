#include "parley/learn/personal/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace parley::learn {
namespace {

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

Result<void> usable_model(std::string_view name, std::span<const double> theta, size_t columns) {
  if (theta.size() > columns)
    return Error{Code::kInvalid, fmt::format("the {} model has {} columns, the rows have {}", name,
                                             theta.size(), columns)};
  if (!all_finite(theta))
    return Error{Code::kInvalid, fmt::format("the {} model is not finite", name)};
  return {};
}

size_t charter_columns_of(const PersonalInput& input) {
  return std::max(input.pilot.size(), input.joint.size());
}

Result<void> usable(const PersonalInput& input) {
  const size_t columns = data::columns_of(input.rows), rows = data::size_of(input.rows);
  if (std::holds_alternative<Hinge>(input.loss))
    return Error{Code::kInvalid, "there are no personal models for the hinge loss",
                 "use the logistic loss"};
  if (rows < 2 || columns == 0)
    return Error{
        Code::kInvalid,
        fmt::format("{} rows of {} columns are too few to compare models on", rows, columns)};
  if (input.bias && *input.bias >= columns)
    return Error{Code::kInvalid, "the bias column does not exist"};
  TRY(usable_model("pilot's", input.pilot, columns));
  TRY(usable_model("joint", input.joint, columns));
  const size_t charter_columns = charter_columns_of(input);
  const bool same_columns =
      input.pilot.empty() || input.joint.empty() || input.pilot.size() == input.joint.size();
  if (!same_columns ||
      (!input.hessian.empty() && input.hessian.size() != charter_columns * charter_columns))
    return Error{Code::kInvalid, "pilot, Hessian and joint model have different columns"};
  if (!std::isfinite(input.joint_optimism) || input.joint_optimism < 0)
    return Error{Code::kInvalid, "the joint model's optimism is negative or not finite"};
  return {};
}

struct Named {
  Centre name{};
  std::vector<double> theta{};
};

void add(Family& family, PullShape shape, Pull pull, const std::vector<Named>& centres) {
  for (const Named& centre : centres) {
    pull.centres.push_back(centre.theta);
    for (double nu : pull.strengths)
      family.candidates.push_back({.centre = centre.name, .shape = shape, .strength = nu});
  }
  family.pulls.push_back(std::move(pull));
}

void add_centres_themselves(Family& family, PullShape shape, const std::vector<Named>& centres) {
  for (const Named& centre : centres)
    family.candidates.push_back({.centre = centre.name, .shape = shape});
}

// In I weaker pulls than 10^-4 change nothing and stronger ones than 10^0.5 give the centre, for
// columns in [-1, 1]. In H the unit is the curvature of the loss itself. Half decades.
constexpr int kLowestI = -8, kHighestI = 1, kLowestH = -4, kHighestH = 3;
// A bias is pulled to nothing hardly at all, to a centre's a little.
constexpr double kAloneBias = 1e-4, kPulledBias = 0.1;

}  // namespace

Result<Family> family_of(const PersonalInput& input) {
  TRY(usable(input));
  const size_t columns = data::columns_of(input.rows), charter_columns = charter_columns_of(input);
  std::vector<Named> centres;
  if (!input.pilot.empty())
    centres.push_back({Centre::kPilot, with_own_columns(input.pilot, columns)});
  if (!input.joint.empty())
    centres.push_back({Centre::kJoint, with_own_columns(input.joint, columns)});

  Family family{.bias = input.bias};
  for (const Named& centre : centres) family.centres.push_back(centre.theta);
  add(family, PullShape::kIdentity,
      {.metric = identity_metric(columns, input.bias, kAloneBias),
       .strengths = half_decades(kLowestI, kHighestI)},
      {{Centre::kZero, std::vector<double>(columns)}});
  add(family, PullShape::kIdentity,
      {.metric = identity_metric(columns, input.bias, kPulledBias),
       .strengths = half_decades(kLowestI, kHighestI)},
      centres);
  if (!input.hessian.empty()) {
    const auto metric = TRY(hessian_metric(input.hessian, charter_columns));
    add(family, PullShape::kHessian,
        {.metric = metric_with_own_columns(metric, charter_columns, columns),
         .strengths = half_decades(kLowestH, kHighestH)},
        centres);
  }
  if (input.bias) add_centres_themselves(family, PullShape::kOwnBias, centres);
  add_centres_themselves(family, PullShape::kCentreItself, centres);
  return family;
}

Models Family::fitted(const OwnLoss& own) const {
  Models models;
  for (const Pull& pull : pulls)
    for (std::vector<double>& model : own.models(pull)) models.push_back(std::move(model));
  if (bias)
    for (const std::vector<double>& centre : centres) models.push_back(own.own_bias(centre, *bias));
  models.insert(models.end(), centres.begin(), centres.end());
  return models;
}

}  // namespace parley::learn
