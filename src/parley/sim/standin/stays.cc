#include "parley/sim/standin/stays.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "parley/base/math/portable.h"
#include "parley/base/math/seeded_random.h"

namespace parley::sim {
namespace {

struct StaysColumn {
  const char* name;
  double slope;
  double share = 0;  // of ones; 0: a score in [-1, 1]
};
constexpr StaysColumn kStaysColumns[] = {{"age", .9},
                                         {"severity", .7},
                                         {"mobility", -.6},
                                         {"creatinine", .5},
                                         {"heart_rate", .4},
                                         {"albumin", -.3},
                                         {"white_cells", .3},
                                         {"haemoglobin", -.2},
                                         {"glucose", .2},
                                         {"body_mass", .1},
                                         {"temperature", 0},
                                         {"emergency", .8, .5},
                                         {"surgery", .6, .5},
                                         {"lives_with_family", -.5, .4},
                                         {"heart_failure", .4, .4},
                                         {"diabetes", .3, .3},
                                         {"planned_discharge", -.3, .3},
                                         {"lung_disease", .2, .3},
                                         {"dementia", .2, .3},
                                         {"referred", -.1, .2},
                                         {"weekend", .1, .2},
                                         {"smoker", 0, .2},
                                         {"insured", 0, .2}};
constexpr size_t kStaysWidth = std::size(kStaysColumns), kScores = 11;
constexpr double kBias = -.9, kSlopeDeviation = .2, kBiasDeviation = .4, kShiftDeviation = .15;
constexpr size_t kPilotSites = 8;
// Streams of their own, far from those of the rows.
constexpr uint64_t kSites = uint64_t{1} << 62, kSiteSizes = kSites + (uint64_t{1} << 61);

struct Site {
  double number = 0;  // from 1 on
  uint64_t end = 0;   // its rows, and those of all before it
  std::array<double, kStaysWidth> slopes{};
  std::array<double, kScores> shifts{};
  double bias = 0;
};

Site draw_site(uint64_t seed, size_t i) {
  SeededRandom random(seed, kSites + i);
  Site site{.number = static_cast<double>(i + 1)};
  for (size_t j = 0; j < kStaysWidth; ++j)
    site.slopes[j] = kStaysColumns[j].slope + kSlopeDeviation * random.normal();
  site.bias = kBias + kBiasDeviation * random.normal();
  for (double& shift : site.shifts) shift = kShiftDeviation * random.normal();
  return site;
}

/// The order of the draws is part of the format.
void draw_stay(uint64_t seed, uint64_t row, const Site& site, std::span<double> values,
               double& target) {
  SeededRandom random(seed, row);
  double score = site.bias;
  for (size_t j = 0; j < kStaysWidth; ++j) {
    const bool number = j < kScores;
    values[j] = number ? rounded(std::clamp(.5 * random.normal() + site.shifts[j], -1., 1.), 1e3)
                       : random.uniform() < kStaysColumns[j].share;
    score += site.slopes[j] * values[j];
  }
  values[kStaysWidth] = site.number;
  target = random.uniform() < 1 / (1 + portable_exp(-score));
}

/// The owners', the pilot's, and the owners' again for rows that no model sees.
std::vector<Site> all_sites(const StandinOptions& options) {
  std::vector<Site> sites;
  const auto add = [&](Site site, uint64_t rows) {
    site.end = (sites.empty() ? 0 : sites.back().end) + rows;
    sites.push_back(site);
  };
  const size_t owners = options.owners.size();
  for (size_t i = 0; i < owners; ++i) add(draw_site(options.seed, i), options.owners[i]);
  for (size_t k = 0; k < kPilotSites; ++k)
    add(draw_site(options.seed, owners + k),
        options.pilot * (k + 1) / kPilotSites - options.pilot * k / kPilotSites);
  for (size_t i = 0; i < owners; ++i) add(sites[i], options.fresh);
  return sites;
}

}  // namespace

std::vector<uint64_t> stays_sizes(size_t hospitals, uint64_t seed) {
  std::vector<uint64_t> sizes;
  for (size_t i = 0; i < hospitals; ++i)
    sizes.push_back(static_cast<uint64_t>(
        80 * portable_exp(portable_log(4) * SeededRandom(seed, kSiteSizes + i).uniform())));
  return sizes;
}

Standin stays_standin(const StandinOptions& options) {
  const auto sites = std::make_shared<const std::vector<Site>>(all_sites(options));
  Standin standin{.columns = {}, .target = "long_stay", .rows = sites->back().end, .draw = {}};
  for (const StaysColumn& column : kStaysColumns) standin.columns.emplace_back(column.name);
  standin.columns.emplace_back("site");
  standin.draw = [sites, seed = options.seed](uint64_t row, std::span<double> values,
                                              double& target) {
    const auto at = std::upper_bound(sites->begin(), sites->end(), row,
                                     [](uint64_t number, const Site& s) { return number < s.end; });
    draw_stay(seed, row, *at, values, target);
  };
  return standin;
}

}  // namespace parley::sim
