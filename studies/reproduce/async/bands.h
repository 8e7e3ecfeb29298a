// The two figures that show fitness by rounds, A-F2 and A-F8, share their form and their claims.
#pragma once

#include <vector>

#include "studies/reproduce/async/job.h"

namespace parley::reproduce::async {

/// Fitness by rounds at each epsilon, of Algorithm 1 to the letter; and at the end with capped
/// answers.
struct Rounds {
  std::vector<double> epsilons{};
  std::vector<uint64_t> noted{};
  Samples literal{}, capped{};
  double start = 0;  // relative fitness of the zero model
  uint64_t runs = 0;
};
/// `named` and `size`: records of each owner, as the claim has them and here (curve.h, matched).
Result<Rounds> by_rounds(const Study& study, const sim::monte_carlo::Population& owners,
                         const AsyncPlan& literal, learn::AsyncOutput capped_output, uint64_t runs,
                         double named, double size);

/// Median and quartiles of the runs over the rounds, one band for each epsilon.
Panel bands(const Rounds& rounds);

/// Comparisons, to be counted. Median at the end over the start.
Measure falls(const Rounds& rounds, size_t e);
/// Medians, and widths of the bands, of one epsilon over those of the next.
Measure improves(const Rounds& rounds, size_t e);
Measure narrows(const Rounds& rounds, size_t e);
/// Mean fitness to the letter over that with capped answers; beside: it decides nothing.
void add_gains(Figure& figure, const Rounds& rounds, const std::string& what);

}  // namespace parley::reproduce::async
