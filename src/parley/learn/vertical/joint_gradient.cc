#include "parley/learn/vertical/joint_gradient.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "parley/base/result.h"

namespace parley::learn {
namespace {

double root_of_squares(const std::vector<double>& numbers) {
  return std::sqrt(std::inner_product(numbers.begin(), numbers.end(), numbers.begin(), 0.0));
}

}  // namespace

double JointPlan::row_norm() const { return root_of_squares(row_norms); }
double JointPlan::model_norm() const { return root_of_squares(balls); }
double JointPlan::unit() const { return scale * std::ldexp(1.0, -(bits + fraction)); }

double JointPlan::sensitivity() const {
  const double r = row_norm(), parties = static_cast<double>(row_norms.size());
  const double real = r * r * model_norm() + 2 * r + 2 * r * parties * std::ldexp(1.0, -fraction);
  return real / unit() * (1 + 0x1p-40);
}

bool JointPlan::fits(double deviation) const {
  const double longest = row_norm() / scale * std::ldexp(1.0, bits);
  double scores = 1;
  for (size_t m = 0; m < balls.size(); ++m) scores += row_norms[m] * balls[m];
  const double sum = static_cast<double>(rows) * longest * std::ldexp(scores, fraction);
  return sum + 12 * deviation < 0x1p63;
}

PartyDescent::PartyDescent(const JointSteps& steps, size_t columns, double ball, double box)
    : steps_(steps), ball_(ball), box_(box), x_(columns), velocity_(columns), sum_(columns) {
  check(steps.averaged >= 1 && steps.averaged <= steps.rounds && ball > 0);
}

void PartyDescent::take(std::span<const double> gradient, uint64_t rows) {
  check(gradient.size() == x_.size() && taken_ < steps_.rounds);
  double squares = 0;
  for (size_t j = 0; j < x_.size(); ++j) {
    const double slope = gradient[j] / static_cast<double>(rows) + steps_.l2 * x_[j];
    velocity_[j] = steps_.momentum * velocity_[j] - steps_.step * slope;
    x_[j] = std::clamp(x_[j] + velocity_[j], -box_, box_);
    squares += x_[j] * x_[j];
  }
  const double norm = std::sqrt(squares);
  if (norm > ball_)
    for (double& x : x_) x *= ball_ / norm * (1 - 0x1p-40);
  if (++taken_ > steps_.rounds - steps_.averaged)
    for (size_t j = 0; j < x_.size(); ++j) sum_[j] += x_[j];
}

std::vector<double> PartyDescent::model() const {
  std::vector<double> mean = sum_;
  const int64_t count = std::max<int64_t>(1, taken_ - (steps_.rounds - steps_.averaged));
  for (double& x : mean) x /= static_cast<double>(count);
  return mean;
}

double probability_of(double score) { return std::clamp((1 + score) / 2, .02, .98); }

}  // namespace parley::learn
