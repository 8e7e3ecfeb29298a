#include <algorithm>
#include <cmath>
#include <tuple>

#include "parley/base/result.h"
#include "parley/forecast/propagate/moments.h"

namespace parley::forecast {
namespace {

/// All second moments of one direction, in error coordinates.
class Recursion {
 public:
  Recursion(const learn::AsyncRule& rule, std::span<const AsyncGroup> groups,
            AsyncDirection direction);
  void step(double part);  // the share of theta_L in the average
  AsyncMoments output(learn::AsyncOutput kind) const;

 private:
  struct Group {
    double count, probability;
    double factor, drift, noise;  // theta_i' = factor middle + drift + noise
    // E of theta_L theta_i, theta_i^2, theta_i and average theta_i
    double with_learner, square, mean, with_average;
    double pull;  // E pull_i^2, and of the pull with theta_i, theta_L and the average
    double pull_own = 0, pull_learner = 0, pull_average = 0;
  };
  double middle_square(const Group& g) const {
    return .25 * (square_ + 2 * g.with_learner + g.square);
  }
  double middle(const Group& g) const { return .5 * (mean_ + g.mean); }
  double middle_average(const Group& g) const { return .5 * (with_average_ + g.with_average); }
  /// E of (middle of an owner of g)(theta_j of another one of k).
  double middle_other(size_t g, size_t k) const {
    return .5 * (groups_[k].with_learner + pair(g, k));
  }
  double pair(size_t g, size_t k) const { return pairs_[g * groups_.size() + k]; }
  /// E of (middle of an owner)(its own pull), and of another's middle with the pull of one of g.
  double middle_pull(const Group& g) const { return .5 * (g.pull_learner + g.pull_own); }
  double middle_pull(size_t k, size_t g) const {
    return .5 * (groups_[g].pull_learner + pulled(k, g));
  }
  double pulled(size_t k, size_t g) const { return pulled_[k * groups_.size() + g]; }

  void set_pulls(std::span<const AsyncGroup> groups, const learn::AsyncRule& rule,
                 const AsyncDirection& direction);
  Group stepped(size_t k) const;
  void step_pulls(size_t k, Group& next) const;
  double stepped_pulled(size_t k, size_t g) const;
  double stepped_pair(size_t k, size_t l) const;
  AsyncMoments copies() const;

  double factor_, drift_;                // theta_L' = factor middle - drift
  double square_, mean_, with_average_;  // E of theta_L^2, theta_L, average theta_L
  double average_square_, average_mean_;
  std::vector<Group> groups_{};
  std::vector<double> pairs_;                     // E theta_i theta_j of two different owners
  std::vector<double> pulled_{}, common_pull_{};  // E theta_j pull_i, and E pull_j pull_i
};

Recursion::Recursion(const learn::AsyncRule& rule, std::span<const AsyncGroup> groups,
                     AsyncDirection direction) {
  double owners = 0;
  for (const AsyncGroup& group : groups) owners += group.owners;
  const double start = -direction.optimum, squared = start * start;
  factor_ = 1 - rule.step * rule.l2 / 2;
  drift_ = rule.step * rule.l2 / 2 * direction.optimum;
  square_ = with_average_ = average_square_ = squared;
  mean_ = average_mean_ = start;
  for (const AsyncGroup& g : groups) {
    const double step = rule.step / g.probability, half = rule.l2 / (2 * owners);
    groups_.push_back(
        {.count = g.owners,
         .probability = g.probability,
         .factor = 1 - step * (half + g.weight * g.relative_curvature * direction.curvature),
         // Without its pull, an owner's mean loss has the gradient -l2 theta* at theta*.
         .drift = -step * (half - g.weight * rule.l2) * direction.optimum,
         .noise = step * step * g.weight * g.weight * g.variance,
         .with_learner = squared,
         .square = squared,
         .mean = start,
         .with_average = squared,
         .pull = 0});
  }
  pairs_.assign(groups_.size() * groups_.size(), squared);
  pulled_.assign(pairs_.size(), 0);
  set_pulls(groups, rule, direction);
}

/// An owner's gradient at the joint optimum is the difference between the means of its and of all
/// rows' gradients: covariance (1/n_i - 1/n) with itself and -1/n with others', times one record's.
/// Owners that differ add, with shares s of the rows and S the sum of their squares, the covariance
/// 1 - 2 s_i + S with itself and S - s_i - s_j with others', whose mean over rows is 1 - S.
void Recursion::set_pulls(std::span<const AsyncGroup> groups, const learn::AsyncRule& rule,
                          const AsyncDirection& direction) {
  double rows = 0, squares = 0;
  for (const AsyncGroup& g : groups) rows += g.owners * g.rows;
  const auto share = [&](const AsyncGroup& g) { return rows > 0 ? g.rows / rows : 0; };
  for (const AsyncGroup& g : groups) squares += g.owners * share(g) * share(g);
  const double differ = squares < 1 ? direction.differ_variance / (1 - squares) : 0;
  const auto reach = [&](const AsyncGroup& g) { return rule.step / g.probability * g.weight; };
  const double common = rows > 0 ? direction.record_variance / rows : 0;
  for (size_t k = 0; k < groups.size(); ++k) {
    const double own = groups[k].rows > 0 ? direction.record_variance / groups[k].rows : 0;
    groups_[k].pull = reach(groups[k]) * reach(groups[k]) *
                      (std::max(own - common, 0.0) + differ * (1 - 2 * share(groups[k]) + squares));
    for (const AsyncGroup& other : groups)
      common_pull_.push_back(reach(groups[k]) * reach(other) *
                             (differ * (squares - share(groups[k]) - share(other)) - common));
  }
}

Recursion::Group Recursion::stepped(size_t k) const {
  const Group& g = groups_[k];
  Group next = g;
  const double p = g.probability, u = middle_square(g), m = middle(g);
  next.square = p * (g.factor * g.factor * u + 2 * g.factor * g.drift * m + g.drift * g.drift +
                     g.noise + g.pull + 2 * g.factor * middle_pull(g)) +
                (1 - p) * g.square;
  next.mean = p * (g.factor * m + g.drift) + (1 - p) * g.mean;
  next.with_average =
      p * (g.factor * middle_average(g) + g.drift * average_mean_ + g.pull_average) +
      (1 - p) * g.with_average;
  next.with_learner = p * (g.factor * factor_ * u + (factor_ * g.drift - g.factor * drift_) * m -
                           drift_ * g.drift + factor_ * middle_pull(g));
  for (size_t l = 0; l < groups_.size(); ++l) {
    const double others = groups_[l].count - (l == k ? 1 : 0);
    next.with_learner +=
        others * groups_[l].probability * (factor_ * middle_other(l, k) - drift_ * g.mean);
  }
  step_pulls(k, next);
  return next;
}

void Recursion::step_pulls(size_t k, Group& next) const {
  const Group& g = groups_[k];
  const double p = g.probability;
  next.pull_own = p * (g.factor * middle_pull(g) + g.pull) + (1 - p) * g.pull_own;
  next.pull_learner = p * factor_ * middle_pull(g);
  for (size_t l = 0; l < groups_.size(); ++l)
    next.pull_learner += (groups_[l].count - (l == k ? 1 : 0)) * groups_[l].probability * factor_ *
                         middle_pull(l, k);
}

/// E of theta_j, of another owner in group k, with the pull of one in g.
double Recursion::stepped_pulled(size_t k, size_t g) const {
  const Group& other = groups_[k];
  return other.probability *
             (other.factor * middle_pull(k, g) + common_pull_[k * groups_.size() + g]) +
         (1 - other.probability) * pulled(k, g);
}

double Recursion::stepped_pair(size_t k, size_t l) const {
  const Group &a = groups_[k], &b = groups_[l];
  return a.probability * (a.factor * middle_other(k, l) + a.drift * b.mean + pulled(l, k)) +
         b.probability * (b.factor * middle_other(l, k) + b.drift * a.mean + pulled(k, l)) +
         (1 - a.probability - b.probability) * pair(k, l);
}

void Recursion::step(double part) {
  std::vector<Group> groups;
  std::vector<double> pairs, pulled;
  for (size_t k = 0; k < groups_.size(); ++k) {
    groups.push_back(stepped(k));
    for (size_t l = 0; l < groups_.size(); ++l) {
      pairs.push_back(stepped_pair(k, l));
      pulled.push_back(stepped_pulled(k, l));
    }
  }
  double square = 0, mean = 0, with_average = 0;
  for (const Group& g : groups_) {
    const double comes = g.count * g.probability, m = middle(g);
    square +=
        comes * (factor_ * factor_ * middle_square(g) - 2 * factor_ * drift_ * m + drift_ * drift_);
    mean += comes * (factor_ * m - drift_);
    with_average += comes * (factor_ * middle_average(g) - drift_ * average_mean_);
  }
  average_square_ = (1 - part) * (1 - part) * average_square_ +
                    2 * part * (1 - part) * with_average + part * part * square;
  average_mean_ = (1 - part) * average_mean_ + part * mean;
  for (Group& g : groups) {
    g.with_average = (1 - part) * g.with_average + part * g.with_learner;
    g.pull_average = (1 - part) * g.pull_average + part * g.pull_learner;
  }
  with_average_ = (1 - part) * with_average + part * square;
  square_ = square, mean_ = mean;
  groups_ = std::move(groups), pairs_ = std::move(pairs), pulled_ = std::move(pulled);
}

/// The mean of theta_L and all copies.
AsyncMoments Recursion::copies() const {
  double points = 1, square = square_, mean = mean_;
  for (size_t k = 0; k < groups_.size(); ++k) {
    const Group& g = groups_[k];
    points += g.count;
    mean += g.count * g.mean;
    square += g.count * (2 * g.with_learner + g.square);
    for (size_t l = 0; l < groups_.size(); ++l)
      square += g.count * (groups_[l].count - (l == k ? 1 : 0)) * pair(k, l);
  }
  return {mean / points, square / (points * points)};
}

AsyncMoments Recursion::output(learn::AsyncOutput kind) const {
  if (kind == learn::AsyncOutput::kLast) return {mean_, square_};
  if (kind == learn::AsyncOutput::kTail) return {average_mean_, average_square_};
  return copies();
}

}  // namespace

AsyncMoments async_moments(const learn::AsyncRule& rule, std::span<const AsyncGroup> groups,
                           AsyncDirection direction) {
  check(!groups.empty());
  Recursion recursion(rule, groups, direction);
  const uint64_t head = rule.rounds / 2;  // As AsyncDescent averages the tail.
  for (uint64_t k = 1; k <= rule.rounds; ++k)
    recursion.step(k <= head ? 1 : 1 / static_cast<double>(k - head));
  return recursion.output(rule.output);
}

namespace {

bool same(const AsyncGroup& a, const AsyncGroup& b) {
  return a.probability == b.probability && a.weight == b.weight && a.variance == b.variance &&
         a.rows == b.rows && a.relative_curvature == b.relative_curvature;
}

/// One group instead of several, with the same sums of probabilities and weights and the same mean
/// effect of the noise on theta_i.
AsyncGroup merged(std::span<const AsyncGroup> parts) {
  AsyncGroup all{.relative_curvature = 0};
  double noise = 0;
  for (const AsyncGroup& part : parts) {
    const double reach = part.weight / part.probability;
    all.owners += part.owners;
    all.probability += part.owners * part.probability;
    all.weight += part.owners * part.weight;
    all.relative_curvature += part.owners * part.weight * part.relative_curvature;
    all.rows += part.owners * part.rows;
    noise += part.owners * part.probability * reach * reach * part.variance;
  }
  noise /= all.probability;
  all.relative_curvature /= all.weight;
  all.probability /= all.owners, all.weight /= all.owners;
  all.rows /= all.owners;
  const double reach = all.weight / all.probability;
  all.variance = noise / (reach * reach);
  return all;
}

}  // namespace

std::vector<AsyncGroup> grouped(const learn::AsyncRule& rule, std::span<const double> variances,
                                std::span<const double> rows, size_t most,
                                std::span<const double> curvatures) {
  check(rule.owners.size() == variances.size() && rows.size() == variances.size() && most > 0);
  check(curvatures.empty() || curvatures.size() == rows.size());
  std::vector<AsyncGroup> kinds;
  for (size_t i = 0; i < variances.size(); ++i)
    kinds.push_back({1, rule.step / rule.owners[i].step, rule.owners[i].weight, variances[i],
                     rows[i], curvatures.empty() ? 1 : curvatures[i]});
  const auto reach = [](const AsyncGroup& g) { return g.weight / g.probability; };
  std::sort(kinds.begin(), kinds.end(), [&](const AsyncGroup& a, const AsyncGroup& b) {
    return std::tuple(reach(a), a.variance, a.probability, a.relative_curvature) <
           std::tuple(reach(b), b.variance, b.probability, b.relative_curvature);
  });
  std::vector<AsyncGroup> groups;
  for (const AsyncGroup& kind : kinds)
    if (!groups.empty() && same(groups.back(), kind))
      groups.back().owners += 1;
    else
      groups.push_back(kind);
  if (groups.size() <= most) return groups;
  std::vector<AsyncGroup> fewer;
  for (size_t g = 0; g < most; ++g) {
    const size_t begin = groups.size() * g / most, end = groups.size() * (g + 1) / most;
    fewer.push_back(merged(std::span(groups).subspan(begin, end - begin)));
  }
  return fewer;
}

}  // namespace parley::forecast
