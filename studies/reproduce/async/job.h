// Asynchronous jobs of the figures: owners cut from records, the paper's noise or ours, and what an
// owner reaches alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parley/learn/schedule/async_descent.h"
#include "parley/sim/monte_carlo/monte_carlo.h"
#include "studies/reproduce/curve.h"
#include "studies/reproduce/data/records.h"

namespace parley::reproduce::async {

/// [A] uses g = 1e-5 |theta|^2, which is (l2 / 2)|theta|^2.
inline constexpr double kAsyncL2 = 2e-5;
inline constexpr uint64_t kAsyncRounds = 1000;

/// Squared loss over the first rows, owner after owner. Without a bound nothing is clipped, as in
/// the paper; with one, every record's gradient is, in L1.
sim::monte_carlo::Population owners_of(const Records& records, const std::vector<uint64_t>& sizes,
                                       double bound, int threads);
inline constexpr double kUnclipped = 0;

struct AsyncPlan {
  double step = 0;   // a = rho / (T^2 sigma)
  double bound = 0;  // Xi, by which noise is scaled, whether it is enforced or not
  /// False: every owner splits its budget by all T rounds, as in the paper. True: by T / N answers,
  /// rounded up, after which it gives none.
  bool capped = false;
  learn::AsyncOutput output = learn::AsyncOutput::kLast;
};

using Samples = std::vector<sim::monte_carlo::Sample>;

/// By epsilon; fitness is noted after each of `rounds` and at the end. Jobs of different
/// `stream`s draw different random numbers.
Result<Samples> sample(const Study& study, const sim::monte_carlo::Population& owners,
                       const AsyncPlan& plan, const std::vector<double>& epsilons, uint64_t runs,
                       uint64_t stream, const std::vector<uint64_t>& rounds = {});

/// The step, or a shorter one where some owner's copy would diverge: records of files are
/// less even than stand-ins.
double stable_step(const sim::monte_carlo::Population& owners, double step);

/// Relative fitness, on all records, of the best model of one owner's own, without noise.
double alone(const sim::monte_carlo::Population& owners, size_t owner);
double at_start(const sim::monte_carlo::Population& owners);

inline std::vector<uint64_t> equal(uint64_t owners, uint64_t rows) {
  return std::vector<uint64_t>(owners, rows);
}

/// What all asynchronous figures say of themselves.
Figure async_figure(const Study& study, std::string id, std::string item, std::string title,
                    std::string claim);

}  // namespace parley::reproduce::async
