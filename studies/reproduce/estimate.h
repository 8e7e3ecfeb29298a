// Slopes, ratios and crossings of measured curves, each with its standard error.
#pragma once

#include <span>
#include <vector>

#include "parley/sim/simulate.h"
#include "studies/reproduce/figure.h"

namespace parley::reproduce {

struct Estimate {
  double value = kUnknown;
  double error = 0;  // standard error
};

/// The slope of log y over log x by least squares; y[k] has the standard error error[k], and these
/// are independent.
Estimate log_slope(std::span<const double> x, std::span<const double> y,
                   std::span<const double> error);

/// a / b of independent estimates.
Estimate ratio(Estimate a, Estimate b);

/// Where y falls below `level` for good: beyond it y stays below. Both are joined by straight lines
/// in log-log; the error is that of the two points beside the crossing. kUnknown if y ends above or
/// never was above.
Estimate crossing(std::span<const double> x, std::span<const double> y,
                  std::span<const double> error, std::span<const double> level);

/// The median, its error as of a normal sample with these quartiles.
Estimate median(const sim::Spread& spread, uint64_t runs);
inline Estimate mean(const sim::Spread& spread) { return {spread.mean, spread.standard_error}; }

}  // namespace parley::reproduce
