#include "studies/reproduce/beyond/world.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "parley/base/math/seeded_random.h"
#include "parley/learn/objective.h"
#include "parley/learn/personal/personal.h"

namespace parley::reproduce::beyond {
namespace {

constexpr size_t kPilot = 1'000, kFresh = 4'000;
constexpr size_t kAsked = 3;     // honest owners
constexpr int kClimbs = 24;      // directions tried beside the worst so far
constexpr double kClimb = 0.15;  // how far beside, per coordinate
constexpr double kSteep = 4;     // slope of the log odds along the truth

data::Rows rows_of(SeededRandom& random, const Vector& truth, size_t count) {
  data::Rows rows(kColumns);
  Vector z(kColumns);
  for (size_t i = 0; i < count; ++i) {
    double score = 0;
    for (size_t j = 0; j < kColumns; ++j) {
      z[j] = random.normal() / std::sqrt(double(kColumns));
      score += kSteep * truth[j] * z[j];
    }
    rows.add(z, random.uniform() < 1 / (1 + std::exp(-score)) ? 1 : -1);
  }
  return rows;
}

learn::Fitness fitness_on(const std::vector<const data::Rows*>& parts, double l2) {
  learn::Fitness fitness(learn::Logistic{}, kColumns, l2);
  for (const data::Rows* part : parts) fitness.add(*part);
  return fitness;
}

/// Where a constant push on the gradient comes to rest against records' clipped gradients, in the
/// box. Without the clip honest records would pull back harder than they may.
Vector pushed(const data::Rows& rows, Vector theta, const Vector& direction, double strength) {
  constexpr int kSteps = 150;
  constexpr double kStep = 20;
  for (int k = 0; k < kSteps; ++k) {
    const Vector slope =
        learn::mean_gradient(learn::Logistic{}, rows, theta, learn::ClipIn::kL2, kClip);
    for (size_t j = 0; j < kColumns; ++j)
      theta[j] -= kStep * (slope[j] + kL2 * theta[j] + strength * direction[j]);
    clamp_to_box(theta);
  }
  return theta;
}

double log_loss(const data::Rows& rows, size_t i, const Vector& theta) {
  double score = 0;
  for (size_t j = 0; j < kColumns; ++j) score += theta[j] * rows.row(i)[j];
  return std::log1p(std::exp(-rows.label(i) * score));
}

/// What one model loses more than another, with the standard error over rows.
Estimate more_lost(const data::Rows& rows, const Vector& theta, const Vector& best) {
  const double n = double(rows.size());
  double mean = 0, squares = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const double more = log_loss(rows, i, theta) - log_loss(rows, i, best);
    mean += more / n, squares += more * more / n;
  }
  return {mean, std::sqrt(std::fmax(0, squares - mean * mean) / (n - 1))};
}

Vector unit(Vector v) {
  const double size = length(v);
  for (double& value : v) value /= size;
  return v;
}

}  // namespace

World make_world(uint64_t seed) {
  SeededRandom random(seed, 900);
  World world;
  world.truth.resize(kColumns);
  for (double& value : world.truth) value = random.normal();
  const double size = length(world.truth);
  for (double& value : world.truth) value /= size;
  for (size_t i = 0; i < kOwners; ++i) world.owners.push_back(rows_of(random, world.truth, kRows));
  world.pilot = rows_of(random, world.truth, kPilot);
  world.fresh = rows_of(random, world.truth, kFresh);
  return world;
}

World public_world(const World& world) {
  World result;
  result.truth = world.truth;
  const size_t each = world.pilot.size() / kOwners;
  for (size_t i = 0; i < kOwners; ++i) {
    result.owners.emplace_back(kColumns);
    for (size_t k = i * each; k < (i + 1) * each; ++k)
      result.owners.back().add(world.pilot.row(k), world.pilot.label(k));
  }
  return result;
}

double loss_on(const data::Rows& rows, std::span<const double> theta) {
  return fitness_on({&rows}, 0).at(theta);
}

Vector best_model(const World& world) {
  std::vector<const data::Rows*> parts;
  for (const data::Rows& rows : world.owners) parts.push_back(&rows);
  return fitness_on(parts, kL2).minimum(kBox).theta;
}

double personal_loss(const World& world, size_t liars, const Vector& joint) {
  double sum = 0;
  for (size_t i = liars; i < liars + kAsked; ++i) {
    learn::PersonalInput input{.loss = learn::Logistic{},
                               .rows = std::make_shared<const data::Rows>(world.owners[i])};
    input.joint = joint;
    const auto models = learn::personal_models(input);
    check(bool(models));
    sum += loss_on(world.fresh, joint.empty() ? models->alone_mixed : models->personal);
  }
  return sum / double(kAsked);
}

Estimate Drawn::mean(const std::function<double(size_t run)>& one) const {
  const double n = double(worlds.size());
  double mean = 0, squares = 0;
  std::vector<double> found;
  for (size_t run = 0; run < worlds.size(); ++run) found.push_back(one(run));
  for (double each : found) mean += each / n;
  for (double each : found) squares += (each - mean) * (each - mean);
  return {mean, std::sqrt(squares / (n * (n - 1)))};
}

Estimate Drawn::ratio(const std::function<double(size_t run)>& one,
                      const std::function<double(size_t run)>& other) const {
  std::vector<double> above, below;
  for (size_t run = 0; run < worlds.size(); ++run)
    above.push_back(one(run)), below.push_back(other(run));
  const double under = mean([&](size_t run) { return below[run]; }).value;
  const double value = mean([&](size_t run) { return above[run]; }).value / under;
  return {value, mean([&](size_t run) { return above[run] - value * below[run]; }).error / under};
}

Drawn drawn_worlds(uint64_t seed, uint64_t runs) {
  Drawn drawn{.seed = seed};
  for (uint64_t run = 0; run < runs; ++run) {
    drawn.worlds.push_back(make_world(1'000 * seed + run));
    drawn.best.push_back(loss_on(drawn.worlds.back().fresh, best_model(drawn.worlds.back())));
  }
  return drawn;
}

std::string_view name_of(Lie lie) {
  constexpr std::string_view kNames[] = {"all honest",
                                         "classes exchanged",
                                         "one far point",
                                         "turned around, ten times as long",
                                         "colluding, one direction",
                                         "free riders: noise only"};
  return kNames[static_cast<int>(lie)];
}

std::vector<data::Rows> told_rows(const World& world, size_t liars, Lie lie) {
  std::vector<data::Rows> told = world.owners;
  if (lie != Lie::kFlips && lie != Lie::kFar) return told;
  Vector far = world.truth;
  for (double& value : far) value *= 3;
  for (size_t i = 0; i < liars; ++i) {
    data::Rows rows(kColumns);
    for (size_t k = 0; k < told[i].size(); ++k)
      if (lie == Lie::kFlips)
        rows.add(told[i].row(k), -told[i].label(k));
      else
        rows.add(far, -1);
    told[i] = std::move(rows);
  }
  return told;
}

double length(std::span<const double> v) {
  double squares = 0;
  for (double value : v) squares += value * value;
  return std::sqrt(squares);
}

void shorten(Vector& v, double most) {
  const double size = length(v);
  if (size <= most) return;
  for (double& value : v) value *= most / size;
}

void clamp_to_box(Vector& theta) {
  for (double& value : theta) value = std::clamp(value, -kBox, kBox);
}

Push worst_push(const World& world, double strength) {
  const Vector best = fitness_on({&world.pilot}, kL2).minimum(kBox).theta;
  Push worst;
  const auto consider = [&](const Vector& direction) {
    const Estimate more =
        more_lost(world.pilot, pushed(world.pilot, best, direction, strength), best);
    if (worst.direction.empty() || more.value > worst.likely)
      worst = {direction, more.value, more.value + 3 * more.error};
  };
  Vector signs = best;
  for (double& value : signs) value = value > 0 ? 1 : -1;
  consider(unit(best)), consider(unit(signs));
  SeededRandom random(1, 901);
  for (int k = 0; k < kClimbs; ++k) {
    Vector beside = worst.direction;
    for (double& value : beside) value += kClimb * random.normal();
    consider(unit(beside));
  }
  return worst;
}

}  // namespace parley::reproduce::beyond
