// The simulator: every party of a job in one process, driven through the same state machines and
// the same bytes as on a network, with seeded entropy, so that a run replays bit for bit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/base/result.h"
#include "parley/charter/charter.h"
#include "parley/charter/policy.h"
#include "parley/data/any_rows.h"
#include "parley/learn/fitness.h"
#include "parley/learn/metrics.h"
#include "parley/learn/model.h"
#include "parley/learn/personal/figures.h"
#include "parley/learn/pilot/wrong_pilot.h"
#include "parley/simulate.h"

namespace parley::sim {

struct OwnerData {
  data::AnyRows rows;
  std::string source;  // as the result names it: a file, or standin:lending seed 1
  Hash records{};      // sharing: of the aligned ids
  /// Rows that nothing is trained on, to judge by.
  std::optional<data::AnyRows> fresh{};
};

struct SimulateInput {
  charter::Charter charter;
  std::vector<OwnerData> owners;                    // in the charter's order
  std::shared_ptr<const data::Rows> pilot;          // null without a [pilot]
  std::map<std::string, charter::Policy> policies;  // of the owners that brought one
};

struct SimulateOptions {
  uint64_t seed = 1;
  size_t runs = 1;
  int threads = 1;
  bool baseline = false;              // also what output perturbation would reach
  bool continue_after_alarm = false;  // where the charter asks a person; else the job ends there
  /// The part of each owner's rows that is kept out of a further run, for figures on its own rows
  /// (sim/held_out.h); 0: no figures; nothing: a fifth, if that does not take long. Where owners
  /// have fresh rows, figures are made on these with the first run's model instead.
  std::optional<double> held_out = 0;
  bool log_loss = false;  // figures of two classes by it, instead of AUC
  /// The least gain that counts in figures, as learn::default_worth; nothing: that.
  std::optional<double> worth{};
  std::filesystem::path out{};  // the first run leaves its model and its ledgers here
  std::function<void(uint64_t answers)> progress = [](uint64_t) {};
  std::function<void()> judged = [] {};  // the figures of one more owner are made
};

using parley::Spread;
Spread spread_of(std::vector<double> values);

/// What `parley simulate` prints, as a table or as formats/json/simulate.json. Fitness is measured
/// on the pooled private rows, which only a simulation can do; hence NOT PRIVATE.
struct SimulateResult {
  using Owner = parley::SimulatedOwner;
  /// The model that an owner which learns ends with: measured here, and nowhere written unless it
  /// is published.
  struct OwnModel {
    std::string owner;
    Spread relative_fitness{};
    bool published = false;
  };
  struct Job {
    std::string charter, charter_hash;  // its name, and the hash in hex
    uint64_t seed = 0;
    size_t runs = 0;
    std::string calibration{};
    std::string loss{}, penalty = "l2";
    data::Target target{};
    bool columns = false;  // owners hold columns of the same records, not records
  };
  /// Over the runs; metrics are those of the first run's model and of the optimum, on the pooled
  /// rows, labels in units of the target.
  struct Quality {
    learn::Optimum optimum{};
    Spread relative_fitness{}, fitness{};
    std::optional<Spread> output_perturbation{};  // relative fitness of the baseline, if asked for
    std::vector<Spread> by_round{};               // relative fitness after round 1, 2, ...
    std::vector<OwnModel> own_models{};
    std::vector<learn::Metric> joint_metrics{}, optimum_metrics{};
    /// What the owners paid for at the end, in the first run; unlike all above it could be
    /// published.
    std::optional<learn::Evaluation> evaluation{};
    std::vector<learn::Distance> distances{};  // likewise under rule "distance", of every run
    /// The test of the pilot in the first run, whether its alarm ended it, and alarms of all runs.
    std::optional<learn::PilotCheck> pilot{};
    bool stopped = false;
    size_t alarms = 0;
  };
  /// Rule "distance": what owners bought, read as tau (forecast/owners/tau.h).
  struct Bought {
    double tau = 0, low = 0, high = 0;  // in the first run, with its 90 % interval
    double mean = 0, deviation = 0;     // over runs
    /// What the same number would say without noise, and the interval that was forecast if tau
    /// were that.
    double noiseless = 0, noiseless_low = 0, noiseless_high = 0;
    std::optional<double> exact{};  // mean of owners' own squared distances; none of sparse rows
  };
  /// Of one owner, on its own held-out rows; without figures, why there are none.
  struct OwnFigures {
    std::string owner{};
    std::optional<learn::OwnerFigures> figures{};
    std::string why_not{};
  };
  struct Traffic {
    uint64_t bytes_up = 0, bytes_down = 0;  // of one run
  };
  struct Timing {
    double wall_s = 0;
    int threads = 1;
  };
  Job job{};
  Quality quality{};
  std::vector<Owner> owners{};
  std::optional<Bought> bought{};  // under rule "distance", in place of all that follows
  double held_out = 0;  // part of the rows that figures are made on; 0: none, or on fresh rows
  std::vector<OwnFigures> figures{};  // of each owner
  std::optional<double> worth{};      // the least gain that counts in them; nothing: the default
  Traffic traffic{};
  Timing timing{};
  std::vector<std::string> why_not_private{};
  std::vector<std::string> warnings{};  // what a learner would say before it starts
  std::filesystem::path model{};        // empty if nothing was written
};

/// Runs the job. Bad input is refused before the first answer; an owner's refusal ends it with that
/// owner's reason and code. Without `paper` (sim/literal.h) so is calibration "paper".
struct Literal;
Result<SimulateResult> simulate(const SimulateInput& input, const SimulateOptions& options,
                                const Literal* paper = nullptr);

}  // namespace parley::sim
