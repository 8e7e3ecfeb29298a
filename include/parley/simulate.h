// A whole job in one process: every owner and the learner, through the same code and the same bytes
// as on a network, from a seed.
//
//   const auto charter = parley::Charter::read("three-banks.charter.toml");
//   if (!charter) return 2;
//   const auto run = parley::simulate(*charter, parley::GeneratedData{"lending"}, {.seed = 7});
//   if (!run) return 1;
//   std::cout << run->to_text();
//
// NOT PRIVATE, for two reasons: whoever runs it holds the rows of all owners, and noise from a seed
// can be computed again. Results are measured on the pooled rows, which only a simulation can do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/charter.h"
#include "parley/data.h"
#include "parley/model.h"
#include "parley/policy.h"
#include "parley/progress.h"
#include "parley/result.h"

namespace parley {

struct SimulateOptions {
  uint64_t seed = 1;  // same seed, same model, bit for bit, on any number of threads
  size_t runs = 1;    // more runs show how much the noise matters
  /// The part of each owner's rows, below a half, that is kept out of a further run and on which
  /// owners are told what they have alone, with public rows, jointly and personally; 0: no such
  /// figures. As it stands, a fifth if that does not take long.
  std::optional<double> held_out{};
  /// A folder with <owner>.csv, as in OwnerFolder: rows that nothing is trained on. These figures
  /// are then made on them, with the first run's model, and nothing is held out. Empty: none.
  std::filesystem::path judge_on{};
  /// The least gain that counts as material in these figures: of RMSE a share, of AUC a
  /// difference. None: 0.005 and 0.002.
  std::optional<double> worth{};
  bool log_loss = false;        // judges two classes by log loss instead of AUC
  bool baseline = false;        // also what noise added once to each owner's model would reach
  std::filesystem::path out{};  // the first run leaves its model and ledgers here; empty: nowhere
  /// Of owners that bring one: its budget is enforced, and its data used for owners without a file.
  std::vector<Policy> policies{};
  std::optional<uint64_t> memory_mb{};  // of 2^20 bytes, for each owner's rows; beyond, in a file
  int threads = 0;                      // 0: as many as the machine has
  OnProgress progress{};                // answers, over all runs
  OnProgress judging{};                 // owners whose figures are made
};

/// Over the runs.
struct Spread {
  double mean = 0, standard_error = 0, p25 = 0, p50 = 0, p75 = 0;
};

/// What a job meant for one owner. Relative fitness is loss / best possible loss - 1, over all
/// owners' rows.
struct SimulatedOwner {
  std::string name, source;
  uint64_t rows = 0;
  double epsilon = 0, delta = 0;  // epsilon is infinite where nothing is protected
  double epsilon_spent = 0;       // by its ledger, in the first run
  double epsilon_evaluation = 0;  // part of it
  uint32_t answers = 0;
  double weight = 0;       // v_i of its answers in the learner's mean
  double noise_scale = 0;  // on the mean gradient: Laplace's b, or Gaussian's sigma
  // Relative fitness of three models: its own rows or columns without noise, the public rows, the
  // joint one.
  double local_only = 0;
  std::optional<double> pilot_only{};
  double joint = 0;
  double local_fitness = 0;  // the same as plain fitness
  bool gains = false;
};
/// The result of a simulation: a cheap handle to something that never changes.
class Simulation {
 public:
  const std::vector<SimulatedOwner>& owners() const;
  /// Of the joint model, over the runs: loss relative to the best possible, and plain.
  const Spread& relative_fitness() const;
  const Spread& fitness() const;
  /// Relative fitness after round 1, 2, ...
  const std::vector<Spread>& by_round() const;
  /// On the pooled rows, in units of the target: of the first run's model, and of the best
  /// possible.
  const std::vector<Metric>& metrics() const;
  const std::vector<Metric>& best_metrics() const;
  /// What the owners paid for at the end, in the first run.
  const std::optional<Evaluation>& evaluation() const;
  /// What a learner would say before it starts, and why the result is not private.
  const std::vector<std::string>& warnings() const;
  const std::vector<std::string>& why_not_private() const;

  /// Where the first run's model is; empty if nothing was written.
  const std::filesystem::path& model_file() const;
  /// Reads it. kInvalid if nothing was written, or owners keep the model in parts.
  Result<Model> model() const;

  std::string to_text() const;
  std::string to_json() const;  // parley.simulate/1

  // For the library itself; what Internal is, is no part of the interface.
  struct Internal;
  explicit Simulation(std::shared_ptr<const Internal> internal);
  const Internal& internal() const { return *internal_; }

 private:
  std::shared_ptr<const Internal> internal_;
};

/// Runs the job. Bad input is refused before the first answer (kInvalid); an owner's refusal ends
/// it with that owner's reason and code (kPolicy, kBudgetExhausted). Charters with calibration
/// "paper" need the papers' own formulas, which only the command line program has (kInvalid). A
/// simulation cannot be stopped half-way.
Result<Simulation> simulate(const Charter& charter, const DataSource& data,
                            const SimulateOptions& options = {});

}  // namespace parley
