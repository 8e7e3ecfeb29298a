#include "parley/sim/standin/hospital.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>

#include "parley/base/math/portable.h"
#include "parley/base/math/seeded_random.h"

namespace parley::sim {
namespace {

constexpr size_t kCovariates = 10;
constexpr double kSlopes[kCovariates] = {.16, .12, -.07, .09, .05, -.04, .06, .03, -.03, .02};
// Streams of their own, far from those of the rows.
constexpr uint64_t kHospitals = uint64_t{1} << 62, kSizes = kHospitals + (uint64_t{1} << 61);

struct Hospital {
  uint64_t end = 0;  // its rows, and those of all before it
  std::array<double, kCovariates> slopes{}, means{};
  double effect = 0;
};

double gamma1(SeededRandom& random) { return -portable_log(random.uniform()); }

Hospital draw_hospital(uint64_t seed, size_t i, bool special) {
  SeededRandom random(seed, kHospitals + i);
  random.uniform();  // taken by special_hospitals
  Hospital hospital;
  for (size_t j = 0; j < kCovariates; ++j) {
    hospital.slopes[j] = kSlopes[j] + (special ? .10 : .02) * random.normal();
    hospital.means[j] = (special ? .3 : .15) * random.normal();
  }
  hospital.effect = .06 * random.normal();
  return hospital;
}

/// The order of the draws is part of the format.
void draw(uint64_t seed, uint64_t row, const Hospital& hospital, std::span<double> values,
          double& target) {
  SeededRandom random(seed, row);
  for (size_t j = 0; j < kCovariates; ++j) values[j] = hospital.means[j] + random.normal();
  values[0] = std::clamp(values[0] + .3 * gamma1(random) - .3, -3., 4.);
  const double skewed = gamma1(random) + gamma1(random);
  double stay = hospital.effect + .35 * (skewed - 2) / std::sqrt(2.);
  for (size_t j = 0; j < kCovariates; ++j) {
    values[j] = rounded(values[j], 1e6);
    stay += values[j] * hospital.slopes[j];
  }
  target = rounded(std::clamp(stay, -1.5, 2.5), 1e6);
}

}  // namespace

std::vector<uint64_t> hospital_sizes(size_t hospitals, uint64_t rows, uint64_t seed) {
  check(hospitals > 0);
  const uint64_t least = std::min<uint64_t>(10'000, rows / hospitals);
  std::vector<double> parts;
  for (size_t i = 0; i < hospitals; ++i)
    parts.push_back(std::min(portable_exp(.8 * SeededRandom(seed, kSizes + i).normal()), 5.));
  const double sum = std::accumulate(parts.begin(), parts.end(), 0.);
  const auto rest = static_cast<double>(rows - hospitals * least);
  std::vector<uint64_t> sizes;
  for (double part : parts) sizes.push_back(least + static_cast<uint64_t>(part / sum * rest));
  return sizes;
}

std::vector<bool> special_hospitals(const StandinOptions& options) {
  const size_t hospitals = options.owners.size(), special = (hospitals * 8 + 43) / 86;
  std::vector<std::pair<double, size_t>> lots;
  for (size_t i = 0; i < hospitals; ++i)
    lots.emplace_back(SeededRandom(options.seed, kHospitals + i).uniform(), i);
  std::sort(lots.begin(), lots.end());
  std::vector<bool> result(hospitals);
  for (size_t i = 0; i < special; ++i) result[lots[i].second] = true;
  return result;
}

Standin hospital_standin(const StandinOptions& options) {
  const std::vector<bool> special = special_hospitals(options);
  auto hospitals = std::make_shared<std::vector<Hospital>>();
  uint64_t end = 0;
  for (size_t i = 0; i < options.owners.size(); ++i) {
    hospitals->push_back(draw_hospital(options.seed, i, special[i]));
    hospitals->back().end = end += options.owners[i];
  }
  Hospital& pilot = hospitals->emplace_back();
  std::copy(std::begin(kSlopes), std::end(kSlopes), pilot.slopes.begin());
  pilot.end = end += options.pilot;
  Standin standin{.columns = {}, .target = "log_los", .rows = end, .draw = {}};
  for (size_t j = 1; j <= kCovariates; ++j) standin.columns.push_back("x" + std::to_string(j));
  standin.draw = [hospitals, seed = options.seed](uint64_t row, std::span<double> values,
                                                  double& target) {
    const auto at =
        std::upper_bound(hospitals->begin(), hospitals->end(), row,
                         [](uint64_t number, const Hospital& h) { return number < h.end; });
    draw(seed, row, *at, values, target);
  };
  return standin;
}

}  // namespace parley::sim
