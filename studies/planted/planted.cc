#include "studies/planted/planted.h"

#include <string>

namespace parley::planted {
namespace {

constexpr Bug kBugs[] = {
    {"float-laplace", "Laplace noise in floating point: its last bits tell the data",
     "Mironov 2012; smartnoise-core #242, opendp #414, diffprivlib #19", 2'000, float_laplace},
    {"l2-laplace", "a bound in L2 with Laplace noise for L1: sqrt(p) too little",
     "horizontal papers, noise on a vector clipped in L2", 20'000, l2_bound_with_laplace},
    {"no-clip", "the clip is assumed, not enforced", "Lipschitz losses taken at their word", 2'000,
     clipping_off},
    {"lower-bound-twice", "a sensitivity made of the lower bound only", "diffprivlib #105", 2'000,
     lower_bound_twice},
    {"per-party-noise", "noise for the average drawn by every party: sqrt(m) too little",
     "Huang, Algorithm 1 as printed", 50'000, per_party_noise},
    {"retry-noise", "a repeated query gets fresh noise", "any server without stored answers", 2'000,
     fresh_noise_on_retry},
    {"ledger-reset", "the ledger forgets when the owner restarts", "budgets kept in memory", 400,
     ledger_reset_on_restart},
    {"off-support", "noise in the column space of the data only",
     "ADMM sharing over distributed features, Theorem 1", 2'000, off_support_residual},
    {"low-threshold",
     "half of an owner's neighbours open a secret: two lists of survivors open both",
     "Bonawitz et al. 2017, which asks for more than half of owners and colluders", 20'000,
     low_threshold},
    {"noise-of-one", "only one owner of a sum adds its share of the noise",
     "shares calibrated to all owners, with owners that leave theirs out", 20'000, noise_of_one},
    {"noise-twice", "two answers carry the same noise: their difference has none",
     "noise that follows from a seed and not from the round", 400, noise_twice},
};

}  // namespace

std::span<const Bug> bugs() { return kBugs; }

Result<Target> target_of(std::string_view name) {
  for (const Bug& each : kBugs)
    if (each.name == name) {
      Target target = TRY(each.make());
      target.kind = "planted", target.name = each.name, target.what = each.what;
      return target;
    }
  return Error{Code::kInvalid, "there is no planted bug '" + std::string(name) + "'",
               "`parley audit --list` names them."};
}

}  // namespace parley::planted
