#include "studies/reproduce/beyond/protocols.h"

#include <algorithm>
#include <cmath>

#include "parley/base/math/seeded_random.h"
#include "parley/learn/objective.h"
#include "parley/learn/schedule/async_descent.h"
#include "parley/privacy/accounting/zcdp.h"

namespace parley::reproduce::beyond {
namespace {

constexpr int kAnswers = 20;           // of an owner, paid with all of epsilon
constexpr double kStep = 20;           // of synchronous rounds
constexpr double kAsyncStep = 2;       // a of the asynchronous equations
constexpr int kLocal = 5, kSums = 10;  // local steps, and aggregations of them
constexpr double kLocalStep = 10;      // of local steps
constexpr double kBeyondBounds = 1e6;  // "any number"
constexpr double kTurnedLonger = 10;   // how much longer a turned answer is

/// sigma of each of `answers` answers of this sensitivity, all paid with epsilon.
double deviation(double sensitivity, double answers, double epsilon) {
  return sensitivity *
         std::sqrt(answers / (2 * privacy::zcdp_rho(epsilon, privacy::Delta(kDelta))));
}

double gradient_noise(double epsilon) {
  return deviation(2 * kClip / double(kRows), kAnswers, epsilon);
}

void add_noise(Vector& v, double sigma, SeededRandom& random) {
  for (double& value : v) value += sigma * random.normal();
}

Vector mean_gradient(const data::Rows& rows, std::span<const double> theta) {
  return learn::mean_gradient(learn::Logistic{}, rows, theta, learn::ClipIn::kL2, kClip);
}

/// What an owner sends: the honest vector with noise, or what its lie makes of it. `reach` is how
/// long an answer may be for a learner that looks.
Vector answer_of(const Job& job, size_t owner, Vector honest, double sigma, double reach,
                 SeededRandom& random) {
  if (owner >= job.liars || job.lie == Lie::kNone || job.lie == Lie::kFlips ||
      job.lie == Lie::kFar) {
    add_noise(honest, sigma, random);
    return honest;
  }
  if (job.lie == Lie::kFreeRider) {
    std::ranges::fill(honest, 0);
    add_noise(honest, sigma, random);
    return honest;
  }
  if (job.lie == Lie::kTurned) {
    for (double& value : honest) value *= -kTurnedLonger;
    return honest;
  }
  for (size_t j = 0; j < honest.size(); ++j)
    honest[j] = (job.unbounded ? kBeyondBounds : reach) * job.direction[j];
  return honest;
}

/// The middle of every coordinate: the mean of what is left without `drop` at either end.
Vector middle_of(const std::vector<Vector>& answers, size_t drop) {
  Vector result(kColumns);
  for (size_t j = 0; j < kColumns; ++j) {
    Vector values;
    for (const Vector& answer : answers) values.push_back(answer[j]);
    std::ranges::sort(values);
    for (size_t k = drop; k < values.size() - drop; ++k)
      result[j] += values[k] / double(values.size() - 2 * drop);
  }
  return result;
}

Vector summed(std::vector<Vector> answers, const Job& job, double reach) {
  if (job.sum == Sum::kClipped)
    for (Vector& answer : answers) shorten(answer, reach);
  if (job.sum == Sum::kTrimmed) return middle_of(answers, job.liars);
  return middle_of(answers, job.sum == Sum::kMedian ? (answers.size() - 1) / 2 : 0);
}

/// Rounds of gradients with `combine` for what the learner makes of the answers.
template <class Combine>
Vector rounds_of_gradients(const World& world, const Job& job, uint64_t seed,
                           const Combine& combine) {
  const auto told = told_rows(world, job.liars, job.lie);
  const double sigma = gradient_noise(job.epsilon), reach = honest_length(job.epsilon);
  SeededRandom random(seed, 910);
  Vector theta(kColumns), average(kColumns);
  for (int round = 0; round < kAnswers; ++round) {
    std::vector<Vector> answers;
    for (size_t i = 0; i < kOwners; ++i)
      answers.push_back(answer_of(job, i, mean_gradient(told[i], theta), sigma, reach, random));
    const Vector slope = combine(std::move(answers), reach);
    for (size_t j = 0; j < kColumns; ++j) theta[j] -= kStep * (slope[j] + kL2 * theta[j]);
    clamp_to_box(theta);
    for (size_t j = 0; j < kColumns && round >= kAnswers / 2; ++j)
      average[j] += theta[j] / (kAnswers / 2);
  }
  return average;
}

/// K steps of an owner by itself.
Vector local_update(const data::Rows& rows, const Vector& theta) {
  Vector v = theta;
  for (int k = 0; k < kLocal; ++k) {
    const Vector slope = mean_gradient(rows, v);
    for (size_t j = 0; j < kColumns; ++j) v[j] -= kLocalStep * (slope[j] + kL2 * v[j]);
    clamp_to_box(v);
  }
  for (size_t j = 0; j < kColumns; ++j) v[j] -= theta[j];
  return v;
}

}  // namespace

std::string_view name_of(Sum sum) {
  constexpr std::string_view kNames[] = {"mean", "mean of shortened answers", "trimmed mean",
                                         "median"};
  return kNames[static_cast<int>(sum)];
}

double honest_length(double epsilon) {
  // A normal vector of ten coordinates is longer than 5.97 deviations once in 10^4.
  return kClip + 5.97 * gradient_noise(epsilon);
}

Vector train_sync(const World& world, const Job& job, uint64_t seed) {
  return rounds_of_gradients(world, job, seed, [&](std::vector<Vector> answers, double reach) {
    return summed(std::move(answers), job, reach);
  });
}

Vector train_secure(const World& world, const Job& job, uint64_t seed) {
  return rounds_of_gradients(world, job, seed,
                             [&](const std::vector<Vector>& answers, double reach) {
                               Vector mean = middle_of(answers, 0);
                               if (job.sum == Sum::kClipped) shorten(mean, reach);
                               return mean;
                             });
}

Vector train_async(const World& world, const Job& job, uint64_t seed) {
  const auto told = told_rows(world, job.liars, job.lie);
  const double sigma = gradient_noise(job.epsilon), reach = honest_length(job.epsilon);
  learn::AsyncRule rule{.step = kAsyncStep,
                        .l2 = kL2,
                        .box = kBox,
                        .dimension = kColumns,
                        .rounds = kOwners * kAnswers,
                        .output = learn::AsyncOutput::kTail};
  for (size_t i = 0; i < kOwners; ++i) rule.add(1 / double(kOwners), 1);
  rule.set_steps();
  learn::AsyncDescent descent(rule);
  SeededRandom random(seed, 920);
  std::vector<int> left(kOwners, kAnswers);
  while (!descent.finished()) {
    const auto i = size_t(random.index(int(kOwners)));
    if (left[i] == 0) continue;
    --left[i];
    Vector answer =
        answer_of(job, i, mean_gradient(told[i], descent.middle(i)), sigma, reach, random);
    if (job.sum == Sum::kClipped) shorten(answer, reach);
    descent.step(i, answer);
  }
  return descent.output();
}

Vector train_federated(const World& world, const Job& job, uint64_t seed) {
  const auto told = told_rows(world, job.liars, job.lie);
  // Of the mean update, for one record of one owner (learn/federated/local_update.h).
  const double whole = 2 * kLocalStep * kLocal * kClip / double(kRows);
  const double sigma = deviation(whole, kSums, job.epsilon) / double(kOwners);
  const double reach = kLocalStep * kLocal * kClip;
  SeededRandom random(seed, 930);
  Vector theta(kColumns);
  Job push = job;
  for (double& value : push.direction) value = -value;  // an update goes against its gradient
  for (int round = 0; round < kSums; ++round) {
    Vector mean(kColumns);
    for (size_t i = 0; i < kOwners; ++i) {
      const Vector update = answer_of(push, i, local_update(told[i], theta), 0, reach, random);
      for (size_t j = 0; j < kColumns; ++j) mean[j] += update[j] / double(kOwners);
    }
    add_noise(mean, sigma, random);
    if (job.sum == Sum::kClipped) shorten(mean, reach + 5.97 * sigma);
    for (size_t j = 0; j < kColumns; ++j) theta[j] += mean[j];
    clamp_to_box(theta);
  }
  return theta;
}

}  // namespace parley::reproduce::beyond
