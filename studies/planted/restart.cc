// NOT PRIVATE: an owner that answers the same charter again after every restart, because its ledger
// lies in memory. The owner's code is the real one; only the file is missing.
#include <cmath>

#include "parley/audit/targets/charter_target.h"
#include "studies/planted/planted.h"

namespace parley::planted {
namespace {

using audit::World;

constexpr int kRestarts = 12;

constexpr std::string_view kCharter = R"(
[charter]
version    = 1
name       = "restarts"
consortium = "audit.example"
[target]
column = "y"
bounds = [-1.0, 1.0]
[[column]]
name    = "a"
kind    = "number"
bounds  = [-1.0, 1.0]
missing = 0.0
[model]
loss = "squared"
box  = 1.0
[protocol]
name   = "sync"
rule   = "algorithm2"
rounds = 1
step   = 1.0
[privacy]
mechanism     = "laplace"
max_grad_norm = 1.0
evaluate      = 0.0
[[owner]]
name    = "owner"
rows    = 10
epsilon = 1.0
[learner]
name = "learner"
)";

}  // namespace

Result<Target> ledger_reset_on_restart() {
  const auto charter = TRY(charter::parse_charter(kCharter, "planted", "."));
  Target target = TRY(audit::charter_target(charter, 0));
  // Every play of the honest target is a job with a ledger of its own: a restart, if it was one.
  target.play = [job = target.play](World world, Entropy& entropy) -> Result<double> {
    double score = 0;
    for (int i = 0; i < kRestarts; ++i) score += TRY(job(world, entropy));
    return score;
  };
  target.control = nullptr, target.canaries = nullptr, target.control_canaries = nullptr;
  return target;
}

}  // namespace parley::planted
