// Gauss-Hermite rules for expectations over N(0,1).
#pragma once

#include <vector>

namespace parley::forecast {

struct Quadrature {
  std::vector<double> nodes{}, weights{};
};

/// For smooth functions of a score of this deviation: up to 15 points (the specification's number),
/// fewer where the score is nearly a number.
const Quadrature& quadrature_for(double deviation);

}  // namespace parley::forecast
