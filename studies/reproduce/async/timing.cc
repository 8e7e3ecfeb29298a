// A-F3 and A-F9: who communicates in which round, by independent Poisson clocks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <queue>

#include "parley/base/math/number.h"
#include "parley/sim/poisson_clocks.h"
#include "studies/reproduce/curve.h"
#include "studies/reproduce/figures.h"

namespace parley::reproduce {
namespace {

constexpr size_t kShown = 1000, kTested = 1'000'000, kBlock = 2'000;

struct Tick {
  double time;
  size_t owner;
  bool operator>(const Tick& other) const { return time > other.time; }
};

std::vector<Tick> ticks_of(uint64_t seed, size_t owners, size_t count) {
  sim::PoissonClocks clocks(seed, 0);
  std::priority_queue<Tick, std::vector<Tick>, std::greater<>> next;
  for (size_t i = 0; i < owners; ++i) {
    clocks.add(1);
    next.push({clocks.gap(i), i});
  }
  std::vector<Tick> ticks;
  while (ticks.size() < count) {
    const Tick tick = next.top();
    next.pop();
    ticks.push_back(tick);
    next.push({tick.time + clocks.gap(tick.owner), tick.owner});
  }
  return ticks;
}

/// The mean of numbers, with its standard error.
Estimate mean_of(const std::vector<double>& numbers) {
  const double n = double(numbers.size());
  double mean = 0, squares = 0;
  for (double number : numbers) mean += number / n;
  for (double number : numbers) squares += (number - mean) * (number - mean);
  return {mean, std::sqrt(squares / (n * (n - 1)))};
}

/// Pearson's chi square of equal shares over its degrees of freedom, one of each block of ticks:
/// independent, and 1 on average, if owners come uniformly at random.
Estimate uniformity(const std::vector<Tick>& ticks, size_t owners, size_t block) {
  std::vector<double> found;
  const double expected = double(block) / double(owners);
  for (size_t first = 0; first + block <= ticks.size(); first += block) {
    std::vector<double> counts(owners);
    for (size_t k = first; k < first + block; ++k) ++counts[ticks[k].owner];
    double square = 0;
    for (double count : counts) square += (count - expected) * (count - expected) / expected;
    found.push_back(square / double(owners - 1));
  }
  return mean_of(found);
}

/// Half the mean square of the gaps in units of their mean: 1 for the exponential law.
Estimate gaps_square(const std::vector<Tick>& ticks, double rate) {
  std::vector<double> found;
  for (size_t k = 1; k < ticks.size(); ++k)
    found.push_back(std::pow(rate * (ticks[k].time - ticks[k - 1].time), 2) / 2);
  return mean_of(found);
}

Panel who_and_when(const std::vector<Tick>& ticks) {
  Panel panel{.title = "one run: who communicates in round k",
              .x = {.label = "round k", .unit = "", .log = false},
              .y = {.label = "owner i", .unit = "", .log = false}};
  Series series{.name = "", .kind = Series::Kind::kMarkers};
  for (size_t k = 0; k < kShown; ++k) {
    series.x.push_back(double(k + 1));
    series.y.push_back(double(ticks[k].owner + 1));
  }
  panel.series = {series};
  return panel;
}

Panel shares(const std::vector<Tick>& ticks, size_t owners) {
  Series bars{.name = "", .kind = Series::Kind::kBars},
      level{.name = "T/N", .kind = Series::Kind::kLevel};
  std::vector<double> counts(owners);
  for (size_t k = 0; k < kShown; ++k) ++counts[ticks[k].owner];
  for (size_t i = 0; i < owners; ++i) bars.x.push_back(double(i + 1)), bars.y.push_back(counts[i]);
  level.y = {double(kShown) / double(owners)};
  return {.title = "how often each came in the 1,000 rounds",
          .x = {.label = "owner i"},
          .y = {.label = "answers"},
          .series = {bars, level}};
}

Figure timing(const Study& study, size_t owners) {
  const std::vector<Tick> ticks = ticks_of(study.seed, owners, kTested);
  Figure figure{.id = "",
                .paper = "Farokhi et al.",
                .item = "",
                .title = fmt::format("who communicates when, {} owners", owners),
                .claim = "",
                .panels = {who_and_when(ticks), shares(ticks, owners)},
                .data = "none: clocks only",
                .seed = study.seed,
                .runs = 1};
  figure.measures = {
      between(fmt::format("chi square of equal shares over its freedom, {} blocks of {} rounds",
                          kTested / kBlock, grouped(kBlock)),
              uniformity(ticks, owners, kBlock), .75, 1.25),
      between("half the mean square of the gaps, in units of their mean",
              gaps_square(ticks, double(owners)), .9, 1.1)};
  for (Measure& measure : figure.measures) measure.paper = 1;
  figure.settings = {{"owners", std::to_string(owners)}, {"rate of each clock", "1"}};
  return figure;
}

}  // namespace

Result<Figure> async_timing_lending(const Study& study) {
  Figure figure = timing(study, 3);
  figure.id = "A-F3", figure.item = "Figure 3";
  figure.claim =
      "Note that, in Algorithm 1, only one of the data owners communicates with the learner in "
      "each "
      "iteration. Figure 3 illustrates an example of communication timing for the asynchronous "
      "learning in Algorithm 1 […]. The first data owner whose Poisson clock ticks communicates "
      "with "
      "the learner and because of the symmetry this happens with equal probability between the "
      "data "
      "owners.";
  return figure;
}

Result<Figure> async_timing_hospital(const Study& study) {
  Figure figure = timing(study, 86);
  figure.id = "A-F9", figure.item = "Figure 9";
  figure.claim =
      "At each iteration, only one of the 86 data owners communicates with the learner. […] The "
      "first data owner whose Poisson clock ticks communicates with the learner and because of the "
      "symmetry this happens with equal probability between the data owners.";
  return figure;
}

}  // namespace parley::reproduce
