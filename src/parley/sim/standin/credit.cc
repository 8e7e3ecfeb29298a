#include "parley/sim/standin/credit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "parley/base/math/portable.h"
#include "parley/base/math/seeded_random.h"

namespace parley::sim {
namespace {

constexpr size_t kComponents = 28;
constexpr double kFrauds = .00172, kAmountMax = 25691;
constexpr double kAmountMean = 88.35, kAmountDeviation = 250.12;  // published
constexpr double kDeviation[kComponents] = {
    1.96, 1.65, 1.52, 1.42, 1.38, 1.33, 1.24, 1.19, 1.10, 1.09, 1.02, 1.00, 1.00, .96,
    .92,  .88,  .85,  .84,  .81,  .77,  .73,  .73,  .62,  .61,  .52,  .48,  .40,  .33};
constexpr double kFraudMean[kComponents] = {
    -2.43, 2.20,  -4.63, 3.19,  -2.28, -1.05, -4.48, .48, -2.35, -5.21, 3.73, -6.27, -.10, -7.26,
    -.10,  -4.71, -7.68, -2.67, .84,   .48,   .98,   .02, -.05,  -.17,  .08,  .11,   .41,  .11};

/// Student's t with 5 degrees of freedom, scaled to variance 1. Two uniform numbers make a chi
/// square with 4 degrees of freedom, a normal number the fifth.
double heavy_tailed(SeededRandom& random) {
  const double normal = random.normal(), fifth = random.normal();
  const double first = random.uniform(), second = random.uniform();
  const double square = -2 * portable_log(first * second) + fifth * fifth;
  return normal / std::sqrt(square / 5) * std::sqrt(3. / 5);
}

/// The order of the draws is part of the format, since every file and its hash depends on it.
void draw(uint64_t seed, uint64_t row, std::span<double> values, double& target, bool raw) {
  SeededRandom random(seed, row);
  const bool fraud = random.uniform() < kFrauds;
  const double shift = fraud ? .8 + .6 * random.uniform() : 0, width = fraud ? 2.2 : 1;
  for (size_t i = 0; i < kComponents; ++i) {
    const double value =
        rounded(kFraudMean[i] * shift + width * heavy_tailed(random) * kDeviation[i], 1e6);
    values[i] = raw ? value : rounded(value / kDeviation[i], 1e6);
  }
  const double amount =
      rounded(std::min(portable_exp(3.15 + 1.66 * random.normal()), kAmountMax), 100);
  values[kComponents] = raw ? amount : rounded((amount - kAmountMean) / kAmountDeviation, 1e6);
  target = fraud;
}

}  // namespace

Standin credit_standin(const StandinOptions& options) {
  Standin standin{.columns = {}, .target = "Class", .draw = {}};
  standin.rows =
      std::accumulate(options.owners.begin(), options.owners.end(), uint64_t{0}) + options.pilot;
  for (size_t i = 1; i <= kComponents; ++i)
    standin.columns.push_back((options.raw ? "V" : "v") + std::to_string(i));
  standin.columns.push_back(options.raw ? "Amount" : "amount");
  standin.draw = [seed = options.seed, raw = options.raw](uint64_t row, std::span<double> values,
                                                          double& target) {
    draw(seed, row, values, target, raw);
  };
  return standin;
}

}  // namespace parley::sim
