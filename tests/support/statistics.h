// The statistics that tests decide by. Each decision states how often it fails on correct code.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "parley/audit/binomial.h"

namespace parley::test {

/// P[chi-square with `freedom` degrees >= x].
double chi_square_tail(double x, double freedom);

/// Pearson's statistic of observed counts against expected ones, as its tail probability.
double chi_square_p_value(const std::vector<uint64_t>& observed,
                          const std::vector<double>& expected);

using audit::binomial_lower, audit::binomial_upper;

/// A lower bound on ln(p/p'), wrong with probability at most 2 alpha: what an auditor certifies.
double certified_epsilon(uint64_t hits, uint64_t hits_of_neighbour, uint64_t trials, double alpha);

}  // namespace parley::test
