// The measurements of a simulation over columns in several places, for any rule: the records as
// training sees them, the owners' parts of the model put together, and the results.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/data/rows.h"
#include "parley/learn/vertical/joint_gradient.h"
#include "parley/sim/outcome.h"

namespace parley::sim {

struct Literal;

/// The records as the training sees them, columns side by side, and those of each owner.
struct Joined {
  std::shared_ptr<data::Rows> all;
  std::vector<std::shared_ptr<data::Rows>> own{};
};

/// What a run comes to.
struct ColumnsRun {
  struct Owner {
    double epsilon_spent = 0;
    uint32_t answers = 0;
  };
  std::vector<std::vector<double>> parts{};  // of the model, one of every owner
  std::vector<Owner> owners{};
  std::vector<double> by_round{};  // fitness after each round; empty where only the end is known
  std::optional<std::string> manifest{};
  uint64_t bytes_up = 0, bytes_down = 0;
};

/// What a rule brings.
struct ColumnsJob {
  learn::JointPlan plan{};        // how rows are shortened and rounded
  bool protects = true;           // with noise, paid for by ledgers
  std::string why_not_private{};  // of a simulation none is
  double noise_scale = 0;
  std::function<Result<ColumnsRun>(const Joined& joined, uint64_t run)> train{};
};

/// `parley simulate` of a charter with protocol.name = "sharing"; rule admm by `paper`.
Result<Simulation> simulation_of_columns(const SimulateInput& input, const SimulateOptions& options,
                                         const Literal* paper);

}  // namespace parley::sim
