#include "parley/learn/schedule/weights.h"

#include <cmath>

#include "parley/base/result.h"
#include "parley/learn/solver/symmetric.h"

namespace parley::learn {
namespace {

double total_rows(std::span<const OwnerError> owners) {
  double rows = 0;
  for (const OwnerError& owner : owners) rows += owner.rows;
  return rows;
}

/// The variance of the output along one direction under noise of variance 1 in every round. Walks
/// back from the output to the weight with which each answer enters it.
double output_variance(const Schedule& schedule, double curvature, double preconditioner) {
  double to_theta = 0, to_velocity = 0, to_average = 1, variance = 0;
  for (auto round = schedule.rounds.rbegin(); round != schedule.rounds.rend(); ++round) {
    to_theta += round->average * to_average;
    to_average *= 1 - round->average;
    to_velocity -= round->step * preconditioner * to_theta;
    variance += to_velocity * to_velocity;  // Noise enters the velocity.
    to_theta += curvature * to_velocity;
    to_velocity *= schedule.momentum;
  }
  return variance;
}

/// x' M x.
double in_metric(std::span<const double> metric, std::span<const double> x) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i)
    sum += x[i] * dot(metric.subspan(i * x.size(), x.size()), x);
  return sum;
}

}  // namespace

std::vector<double> optimal_weights(std::span<const OwnerError> owners, double tau2) {
  const double rows = total_rows(owners);
  const auto whole = [&](const OwnerError& owner) { return owner.noise + owner.sampling + tau2; };
  double pulled = 0, inverse = 0;
  for (const OwnerError& owner : owners) {
    check(whole(owner) > 0);
    pulled += tau2 * owner.rows / rows / whole(owner);
    inverse += 1 / whole(owner);
  }
  const double mu = (1 - pulled) / inverse;
  std::vector<double> weights;
  for (const OwnerError& owner : owners)
    weights.push_back((mu + tau2 * owner.rows / rows) / whole(owner));
  return weights;
}

double weights_error(std::span<const OwnerError> owners, std::span<const double> weights,
                     double tau2) {
  const double rows = total_rows(owners);
  double error = 0;
  for (size_t i = 0; i < owners.size(); ++i) {
    const double off = weights[i] - owners[i].rows / rows;
    error += owners[i].noise * weights[i] * weights[i] + (owners[i].sampling + tau2) * off * off;
  }
  return error;
}

double noise_gain(const Schedule& schedule, std::span<const double> curvatures) {
  const bool newton = !schedule.preconditioner.empty();
  double gain = 0;
  for (double h : curvatures) gain += h / 2 * output_variance(schedule, h, newton ? 1 / h : 1);
  return gain;
}

std::optional<ErrorModel> error_model(const Schedule& schedule, const Losses& loss,
                                      const data::Rows& pilot, std::span<const double> theta,
                                      ClipIn norm, double limit, double l2) {
  const size_t p = pilot.columns();
  const auto hessian = smoothed_hessian(loss, pilot, theta, norm, limit, l2);
  const auto metric = inverse(hessian, p);
  if (!metric) return std::nullopt;
  double squares = 0;
  each_gradient(loss, pilot, theta, norm, limit, [&](std::span<const double> z, double slope) {
    squares += slope == 0 ? 0 : slope * slope * in_metric(*metric, z);
  });
  squares /= static_cast<double>(pilot.size());
  const auto mean = mean_gradient(loss, pilot, theta, norm, limit);
  return ErrorModel{.noise_gain = noise_gain(schedule, eigenvalues(hessian, p)),
                    .spread = (squares - in_metric(*metric, mean)) / 2};
}

}  // namespace parley::learn
