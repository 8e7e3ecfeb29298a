#include "studies/reproduce/async/bands.h"

#include <fmt/format.h>

#include <cmath>

namespace parley::reproduce::async {
namespace {

using sim::Spread;

std::vector<uint64_t> noted_rounds() {
  std::vector<uint64_t> rounds = {1, 2, 3, 4, 6, 8};
  for (uint64_t k = 10; k <= kAsyncRounds; k += 10) rounds.push_back(k);
  return rounds;
}

Series band_of(const Rounds& rounds, size_t e) {
  const double start = rounds.start;
  Series series{.name = epsilon_text(rounds.epsilons[e]),
                .x = {0},
                .y = {start},
                .low = {start},
                .high = {start}};
  for (size_t k = 0; k < rounds.noted.size(); ++k) {
    const Spread spread = sim::spread_of(rounds.literal[e].noted[k]);
    series.x.push_back(double(rounds.noted[k])), series.y.push_back(spread.p50);
    series.low.push_back(spread.p25), series.high.push_back(spread.p75);
  }
  return series;
}

/// Each quartile of a normal sample has a standard error of 1.36 deviations / sqrt(runs), and the
/// two are correlated by 1/3: 1.57 for their difference.
Estimate width(const Rounds& rounds, size_t e) {
  const Spread spread = rounds.literal[e].spread();
  const double band = spread.p75 - spread.p25;
  return {band, band / 1.349 * 1.57 / std::sqrt(double(rounds.runs))};
}

std::string against_next(const Rounds& rounds, size_t e, const char* what) {
  return fmt::format("{} at ε = {:g} over that at ε = {:g}", what, rounds.epsilons[e],
                     rounds.epsilons[e + 1]);
}

}  // namespace

Result<Rounds> by_rounds(const Study& study, const sim::monte_carlo::Population& owners,
                         const AsyncPlan& literal, learn::AsyncOutput capped_output, uint64_t runs,
                         double named, double size) {
  Rounds rounds{
      .epsilons = {0.1, 1, 10}, .noted = noted_rounds(), .start = at_start(owners), .runs = runs};
  study.expect(2 * rounds.epsilons.size() * runs * kAsyncRounds);
  AsyncPlan capped = literal;
  capped.capped = true, capped.output = capped_output;
  const auto epsilons = matched(study, rounds.epsilons, named, size);
  rounds.literal = TRY(sample(study, owners, literal, epsilons, runs, 0, rounds.noted));
  if (!study.further) rounds.capped = TRY(sample(study, owners, capped, epsilons, runs, 1));
  return rounds;
}

Panel bands(const Rounds& rounds) {
  Panel panel{.title = "median of the runs, and their 25 to 75 %",
              .x = {.label = "iteration k", .unit = "rounds"},
              .y = {.label = "relative fitness ψ(θ_L,k)", .log = true}};
  for (size_t e = 0; e < rounds.epsilons.size(); ++e) panel.series.push_back(band_of(rounds, e));
  return panel;
}

Measure falls(const Rounds& rounds, size_t e) {
  const Estimate end = median(rounds.literal[e].spread(), rounds.runs);
  return compared(
      "budgets at which the median ends below its start",
      "median ψ after T rounds over ψ at the start, " + epsilon_text(rounds.epsilons[e]),
      {end.value / rounds.start, end.error / rounds.start}, 0, 1);
}

Measure improves(const Rounds& rounds, size_t e) {
  const auto at = [&](size_t k) { return median(rounds.literal[k].spread(), rounds.runs); };
  return compared("steps to a larger budget that improve the median",
                  against_next(rounds, e, "median ψ"), ratio(at(e), at(e + 1)), 1, kAny);
}

Measure narrows(const Rounds& rounds, size_t e) {
  return compared("steps to a larger budget that narrow the band",
                  against_next(rounds, e, "width of the band"),
                  ratio(width(rounds, e), width(rounds, e + 1)), 1, kAny);
}

void add_gains(Figure& figure, const Rounds& rounds, const std::string& what) {
  for (size_t e = 0; e < rounds.capped.size(); ++e)
    figure.measures.push_back(
        beside("E ψ, literal over " + what + ", " + epsilon_text(rounds.epsilons[e]),
               ratio(mean(rounds.literal[e].spread()), mean(rounds.capped[e].spread()))));
}

}  // namespace parley::reproduce::async
