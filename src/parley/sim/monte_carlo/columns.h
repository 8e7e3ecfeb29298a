// Runs some runs of a job together, one column of the state for each, from the first round to the
// last: synchronous or asynchronous.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "parley/sim/monte_carlo/monte_carlo.h"

namespace parley::sim::monte_carlo {

struct Column {
  size_t cell = 0;
  uint64_t run = 0;
};

/// What a column came to.
struct Finished {
  std::vector<double> noted{};
  std::vector<double> model{};
};

/// After each round of all columns; false: stop.
using AfterRound = std::function<bool()>;

/// Empty if stopped. Column by column the same whatever stands beside it.
std::vector<Finished> run_sync(const Job& job, const learn::Schedule& schedule, const Draws& draws,
                               std::span<const Column> columns, const AfterRound& after);
std::vector<Finished> run_async(const Job& job, const Async& async, const Draws& draws,
                                std::span<const Column> columns, const AfterRound& after);

/// Notes the fitness of the columns' outputs after the rounds that were asked for.
class Notes {
 public:
  Notes(const Job& job, uint64_t rounds, size_t columns);
  bool wanted(uint64_t round) const;
  /// Models one after the other, after this round.
  void take(uint64_t round, std::vector<double> models);
  std::vector<Finished> finished() && { return std::move(finished_); }

 private:
  const Job& job_;
  uint64_t rounds_;
  std::vector<Finished> finished_;
};

/// Noise of scale 1 of every column, drawn many rounds ahead.
class NoiseAhead {
 public:
  NoiseAhead(const Job& job, const Draws& draws, std::span<const Column> columns, size_t per_round);
  /// The numbers of a column in a round; rounds must not go back.
  std::span<const double> of(size_t column, uint64_t round);

 private:
  void draw(uint64_t round);

  const Job& job_;
  const Draws& draws_;
  std::span<const Column> columns_;
  size_t per_round_, ahead_;
  uint64_t first_ = 0, end_ = 0;
  std::vector<double> numbers_;
};

}  // namespace parley::sim::monte_carlo
