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
constexpr size_t kTried = 3, kAsked = 3;  // directions beside the model's own; honest owners
constexpr double kSteep = 4;              // slope of the log odds along the truth

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

/// argmin of the fitness plus strength times direction . theta, in the box.
Vector pushed(const learn::Fitness& fitness, Vector theta, const Vector& direction,
              double strength) {
  constexpr int kSteps = 150;
  constexpr double kStep = 20;
  for (int k = 0; k < kSteps; ++k) {
    const Vector slope = fitness.gradient(theta);
    for (size_t j = 0; j < kColumns; ++j) theta[j] -= kStep * (slope[j] + strength * direction[j]);
    clamp_to_box(theta);
  }
  return theta;
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
  const learn::Fitness fitness = fitness_on({&world.pilot}, kL2);
  const learn::Optimum best = fitness.minimum(kBox);
  std::vector<Vector> directions;
  Vector along = best.theta;
  shorten(along, 1);
  directions.push_back(along);
  for (size_t j = 0; j < kTried; ++j) directions.emplace_back(kColumns)[j] = 1;
  Push worst{along, 0};
  for (const Vector& direction : directions)
    for (double sign : {1., -1.}) {
      Vector turned = direction;
      for (double& value : turned) value *= sign;
      const double harm = fitness.at(pushed(fitness, best.theta, turned, strength)) - best.fitness;
      if (harm > worst.harm) worst = {turned, harm};
    }
  return worst;
}

}  // namespace parley::reproduce::beyond
