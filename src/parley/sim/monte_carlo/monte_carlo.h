// Monte Carlo: hundreds of runs of one job as columns of one state, for percentiles, means and
// standard errors. The rules are those of learn/schedule/schedule.h and
// learn/schedule/async_descent.h, in the same code; gate, ledger, wire and lattice are left out.
// Everything is NOT PRIVATE: fitness is measured on private rows, and the noise can be replayed.
//
// A job without a clip follows the papers literally: a bound is assumed and not enforced. A job
// with a clip is the private one except for the lattice, whose steps are 2^-24 of the clip.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <variant>
#include <vector>

#include "parley/base/result.h"
#include "parley/learn/schedule/async_descent.h"
#include "parley/learn/schedule/schedule.h"
#include "parley/sim/monte_carlo/draws.h"
#include "parley/sim/monte_carlo/population.h"
#include "parley/sim/simulate.h"

namespace parley::sim::monte_carlo {

/// One point of a grid: what may differ between runs over the same records.
struct Cell {
  std::vector<double> scales{};   // of each owner's noise on its mean gradient: b, or sigma
  std::vector<double> weights{};  // v_i of synchronous owners; empty: n_i / n
  uint64_t stream = 0;            // cells of equal streams have the same draws
};

/// Asynchronous descent: the next to come is owner i with probability step / owners[i].step, as
/// with Poisson clocks of those rates.
struct Async {
  learn::AsyncRule rule;
  std::vector<uint32_t> caps{};  // answers of each owner, after which it stays away; empty: none
};

struct Job {
  const Population& population;
  std::variant<learn::Schedule, Async> rule;
  Noise noise = Noise::kLaplace;
  std::vector<Cell> cells{};
  uint64_t seed = 1;
  uint64_t runs = 100;             // of each cell
  std::vector<uint64_t> rounds{};  // after which fitness is noted, ascending; the last always is
  bool keep_models = false;
  const Draws* draws = nullptr;  // null: CounterDraws of seed and noise

  uint64_t rounds_made() const;  // by each run
  /// Rounds of all runs together, as progress counts them.
  uint64_t work() const { return cells.size() * runs * rounds_made(); }
};

struct Options {
  int threads = 1;
  /// Finished runs are kept in this file, one line each, and are not made again; in a folder, in a
  /// file named by the job. Empty: nowhere.
  std::filesystem::path store{};
  /// Hears how many rounds were made since, from one thread at a time; false: stop.
  std::function<bool(uint64_t rounds)> go_on = [](uint64_t) { return true; };
};

/// Of one cell. Relative fitness f / f* - 1 of every run, after each of the noted rounds.
struct Sample {
  std::vector<std::vector<double>> noted{};   // by noted round, then by run
  std::vector<std::vector<double>> models{};  // of each run, if kept
  const std::vector<double>& last() const { return noted.back(); }
  Spread spread() const { return spread_of(last()); }
};

/// By cell. kFailed if it was stopped or the store cannot be written.
Result<std::vector<Sample>> run(const Job& job, const Options& options = {});

}  // namespace parley::sim::monte_carlo
