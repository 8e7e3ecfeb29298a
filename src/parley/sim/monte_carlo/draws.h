// Counter-based random numbers for Monte Carlo runs: draw d of run r is a function of (seed,
// stream, r, d) alone. A run has the same bits on any number of threads, beside any number of other
// runs, and after it was interrupted and resumed.
#pragma once

#include <cstdint>
#include <span>

namespace parley::sim::monte_carlo {

enum class Noise { kLaplace, kGaussian };

class Draws {
 public:
  virtual ~Draws() = default;

  /// Noise of scale 1: numbers first, first + 1, ... of a run's sequence, which goes round by
  /// round, in a round owner by owner (of an asynchronous run: the one that comes), and then
  /// coordinate by coordinate.
  virtual void noise(uint64_t stream, uint64_t run, uint64_t first,
                     std::span<double> out) const = 0;
  /// Uniform in (0, 1): who comes in round 0, 1, ... of an asynchronous run.
  virtual double turn(uint64_t stream, uint64_t run, uint64_t round) const = 0;
};

/// Philox words, 32 bits for a number. Such a number is real-valued, unlike an owner's noise, which
/// lies on a lattice some 2^-24 as wide as the clip; and it ends at 22 times the scale (Laplace) or
/// 6.3 times (Gaussian), which takes less than 2e-7 of the variance.
class CounterDraws final : public Draws {
 public:
  CounterDraws(uint64_t seed, Noise noise) : seed_(seed), noise_(noise) {}

  void noise(uint64_t stream, uint64_t run, uint64_t first, std::span<double> out) const override;
  double turn(uint64_t stream, uint64_t run, uint64_t round) const override;

 private:
  uint64_t seed_;
  Noise noise_;
};

}  // namespace parley::sim::monte_carlo
