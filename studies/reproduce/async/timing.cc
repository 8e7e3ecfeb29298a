// A-F3 and A-F9: who communicates in which round, by independent Poisson clocks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <queue>

#include "parley/base/math/number.h"
#include "parley/sim/poisson_clocks.h"
#include "studies/reproduce/figures.h"

namespace parley::reproduce {
namespace {

constexpr size_t kShown = 1000, kTested = 100'000;

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

/// Pearson's chi square of equal shares as a normal score (Wilson and Hilferty 1931).
double uniformity(const std::vector<double>& counts) {
  double total = 0, square = 0;
  for (double count : counts) total += count;
  const double expected = total / double(counts.size()), freedom = double(counts.size() - 1);
  for (double count : counts) square += (count - expected) * (count - expected) / expected;
  const double part = 2 / (9 * freedom);
  return (std::cbrt(square / freedom) - (1 - part)) / std::sqrt(part);
}

/// Kolmogorov's distance of the gaps between ticks from the exponential law, times sqrt(count).
double gaps_distance(const std::vector<Tick>& ticks, double rate) {
  std::vector<double> law;
  for (size_t k = 1; k < ticks.size(); ++k)
    law.push_back(1 - std::exp(-rate * (ticks[k].time - ticks[k - 1].time)));
  std::ranges::sort(law);
  const double n = double(law.size());
  double distance = 0;
  for (size_t k = 0; k < law.size(); ++k)
    distance = std::max({distance, double(k + 1) / n - law[k], law[k] - double(k) / n});
  return distance * std::sqrt(n);
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
  std::vector<double> counts(owners);
  for (const Tick& tick : ticks) ++counts[tick.owner];
  Figure figure{.id = "",
                .paper = "Farokhi et al.",
                .item = "",
                .title = fmt::format("who communicates when, {} owners", owners),
                .claim =
                    "At each iteration only one of the data owners communicates with the "
                    "learner; the owners are selected uniformly at random, because the first "
                    "whose Poisson clock ticks communicates.",
                .panels = {who_and_when(ticks), shares(ticks, owners)},
                .data = "none: clocks only",
                .seed = study.seed,
                .runs = 1};
  figure.measures = {
      {.quantity = fmt::format("chi square of equal shares in {} rounds, as a normal score",
                               grouped(kTested)),
       .value = uniformity(counts),
       .error = 1,
       .most = 5},
      {.quantity = "Kolmogorov distance of the gaps from the exponential law, times √rounds",
       .value = gaps_distance(ticks, double(owners)),
       .error = 0,
       .most = 2.7}};
  figure.settings = {{"owners", std::to_string(owners)}, {"rate of each clock", "1"}};
  figure.note = "Correct clocks fail one of the two tests with probability below 2e-6.";
  return figure;
}

}  // namespace

Result<Figure> async_timing_lending(const Study& study) {
  Figure figure = timing(study, 3);
  figure.id = "A-F3", figure.item = "Figure 3";
  return figure;
}

Result<Figure> async_timing_hospital(const Study& study) {
  Figure figure = timing(study, 86);
  figure.id = "A-F9", figure.item = "Figure 9";
  return figure;
}

}  // namespace parley::reproduce
