// A minimiser, with a proven bound of how far its value is above the minimum.
#pragma once

#include <string>
#include <vector>

namespace parley::learn {

/// fitness <= (smallest possible)(1 + relative_gap), up to the rounding of the fitness itself.
struct Optimum {
  std::vector<double> theta{};
  double fitness = 0;
  std::string solver{};
  double relative_gap = 0;
};

/// Solvers stop here; what is asked for is 1e-8.
inline constexpr double kGapWanted = 1e-9;

}  // namespace parley::learn
