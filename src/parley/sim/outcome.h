// The results of a simulation in any protocol: those of one run, their summary over runs, and the
// reference that they are measured against.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parley/learn/fitness.h"
#include "parley/learn/model.h"
#include "parley/protocol/job.h"
#include "parley/sim/simulate.h"

namespace parley::sim {

/// The fitness of pooled data and what it is compared with.
struct Reference {
  learn::Fitness pooled;
  learn::Optimum optimum{};

  double relative(double fitness) const { return fitness / optimum.fitness - 1; }
  double relative_at(std::span<const double> theta) const { return relative(pooled.at(theta)); }
};

/// Of an owner: what it did, and how it counted.
struct OwnerShare {
  protocol::JobSpent spent{};  // by its ledger
  uint32_t answers = 0;
  double weight = 0;
  double noise_scale = 0;
};

/// Of an owner that learns: what it comes to by itself.
struct OwnerLearned {
  size_t owner = 0;
  double relative = 0;     // fitness of its model
  bool published = false;  // noisy and paid for; else it never leaves its owner
};

struct RunOutcome {
  std::vector<double> by_round{};  // relative fitness after each round
  std::vector<double> model{};
  std::optional<learn::Evaluation> evaluation{};
  std::optional<learn::Distance> distance{};
  std::optional<learn::PilotCheck> pilot{};
  bool stopped = false;                   // by an alarm of it
  std::optional<std::string> manifest{};  // of a model whose parts stay with their owners
  std::vector<OwnerShare> owners{};       // empty but in the first run
  std::vector<OwnerLearned> own{};
  uint64_t bytes_up = 0, bytes_down = 0;
};

struct Outcome {
  RunOutcome first{};
  std::vector<std::vector<double>> by_round{};  // relative fitness of every run after each round
  std::vector<learn::Distance> distances{};     // of every run, under rule "distance"
  std::vector<std::vector<double>> own{};       // of every run, for each owner that learns
  size_t alarms = 0;
};

using Run = std::function<Result<RunOutcome>(const Reference&, uint64_t run)>;

/// A simulation before its first run.
struct Simulation {
  Reference reference;
  Run run{};
  /// Fitness on all rows of the best model of one owner's rows, or columns, alone.
  std::function<double(const Reference&, size_t owner)> alone{};
  /// How a model would be judged on all rows.
  std::function<std::vector<learn::Metric>(const std::vector<double>& theta)> metrics{};
  std::vector<std::string> why_not_private{};
  std::vector<std::string> warnings{};
  bool protects = true;  // with noise, paid for by ledgers
};

/// A job under secure aggregation as a network would see it: owners sign, here with keys that
/// everyone could make, and where they shorten their rows, fitness is measured on those. The
/// charter keeps its hash.
SimulateInput as_trained(const SimulateInput& input);

/// One run after the other.
Result<Outcome> all_runs(const Simulation& simulation, size_t runs);

/// A run of the job with the charter's learner.
Result<RunOutcome> run_with_learner(const SimulateInput& input, const SimulateOptions& options,
                                    const Reference& reference, uint64_t run);

/// Of an owner's noise: on the mean gradient or, under secure aggregation, of the sum that it was
/// charged for.
Result<double> noise_scale(const charter::Charter& charter, size_t owner);
Result<std::vector<double>> noise_scales(const charter::Charter& charter);

/// How predictions of a model for this charter's target are judged: where it has classes, on the
/// records of either; none if no record has a class.
std::vector<learn::Metric> metrics_of(const charter::Charter& charter,
                                      std::span<const double> predicted,
                                      std::span<const double> labels);

}  // namespace parley::sim
