#include "parley/learn/schedule/schedule.h"

#include <algorithm>
#include <cmath>

#include "parley/base/result.h"

namespace parley::learn {
namespace {

/// q_k for k = 1 .. answers.
double average_weight(Average average, uint32_t k, uint32_t answers) {
  switch (average) {
    case Average::kNone:
      return 1;
    case Average::kPaper: {
      const double eta = 1 / std::sqrt(answers + 2.0);
      return (1 + eta) / (k + 1 + eta);
    }
    case Average::kTail: {
      const uint32_t head = answers / 2;  // The last ceil(answers / 2) iterates are averaged.
      return k <= head ? 1 : 1.0 / (k - head);
    }
  }
  return check(false), 0;
}

template <class Step>
Schedule fill(uint32_t answers, Average average, std::vector<double> start, const Step& step) {
  check(answers >= 1 && !start.empty());
  Schedule schedule{.rounds = {}, .start = std::move(start), .preconditioner = {}};
  for (uint32_t k = 1; k <= answers; ++k)
    schedule.rounds.push_back({step(k), average_weight(average, k, answers)});
  return schedule;
}

}  // namespace

Schedule algorithm1(uint32_t answers, double rho, Average average, std::vector<double> start) {
  const double rounds = answers + 1.0;  // the paper's T
  return fill(answers, average, std::move(start),
              [&](double k) { return rho / (rounds * rounds * k); });
}

Schedule algorithm2(uint32_t answers, double c, Average average, std::vector<double> start) {
  return fill(answers, average, std::move(start), [&](double k) { return c / std::sqrt(k); });
}

Schedule constant_step(uint32_t answers, double step, Average average, std::vector<double> start) {
  return fill(answers, average, std::move(start), [&](double) { return step; });
}

Schedule strongly_convex(uint32_t answers, double scale, double l2, Average average,
                         std::vector<double> start) {
  check(l2 > 0);
  return fill(answers, average, std::move(start), [&](double k) { return scale / (l2 * k); });
}

Schedule pilot_newton(uint32_t answers, double scale, Average average, std::vector<double> start,
                      std::vector<double> inverse_hessian) {
  check(inverse_hessian.size() == start.size() * start.size());
  Schedule schedule = fill(answers, average, std::move(start), [&](double k) {
    return answers == 2 ? scale / k : scale / std::sqrt(k);
  });
  schedule.preconditioner = std::move(inverse_hessian);
  return schedule;
}

Schedule gram_steps(uint32_t answers, std::vector<double> start) {
  return fill(answers, Average::kNone, std::move(start),
              [](double k) { return k <= 2 ? 1 : 2 / (k + 1); });
}

Descent::Descent(Schedule schedule, double box, double l2, size_t runs)
    : schedule_(std::move(schedule)), box_(box), l2_(l2), runs_(runs) {
  for (double& value : schedule_.start) value = std::clamp(value, -box_, box_);
  for (size_t run = 0; run < runs_; ++run)
    theta_.insert(theta_.end(), schedule_.start.begin(), schedule_.start.end());
  average_ = theta_;
  velocity_.resize(theta_.size());
}

void Descent::precondition(std::vector<double> inverse_hessian) {
  check(done_ == 0 && inverse_hessian.size() == dimension() * dimension());
  schedule_.preconditioner = std::move(inverse_hessian);
}

void Descent::step(std::span<const double> gradients) {
  check(gradients.size() == theta_.size() && !finished());
  const Schedule::Round round = schedule_.rounds[done_++];
  const size_t p = dimension();
  for (size_t run = 0; run < runs_; ++run) {  // Plain loops: one order, for every p and every run.
    double* theta = &theta_[run * p];
    double* velocity = &velocity_[run * p];
    double* average = &average_[run * p];
    for (size_t j = 0; j < p; ++j)
      velocity[j] = schedule_.momentum * velocity[j] + (l2_ * theta[j] + gradients[run * p + j]);
    for (size_t i = 0; i < p; ++i) {
      double direction = velocity[i];
      if (!schedule_.preconditioner.empty()) {
        direction = 0;
        for (size_t j = 0; j < p; ++j)
          direction += schedule_.preconditioner[i * p + j] * velocity[j];
      }
      double change = round.step * direction;
      if (schedule_.longest > 0) change = std::clamp(change, -schedule_.longest, schedule_.longest);
      theta[i] = std::clamp(theta[i] - change, -box_, box_);
      // Rounding must not carry the output over the edge: owners evaluate only what is inside.
      average[i] =
          std::clamp((1 - round.average) * average[i] + round.average * theta[i], -box_, box_);
    }
  }
}

}  // namespace parley::learn
