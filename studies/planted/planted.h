// NOT PRIVATE, on purpose: mistakes that were made in papers and products, each small, whole and
// with the attack that finds it. The auditor must flag every one of them, or it has lost its power.
// Nothing here is used by anything that serves an owner.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "parley/audit/targets/target.h"

namespace parley::planted {

using audit::Target;

struct Bug {
  std::string_view name;
  std::string_view what;    // the mistake
  std::string_view source;  // who made it, or who showed it
  uint64_t runs;            // that find it
  Result<Target> (*make)();
};

/// All of them.
std::span<const Bug> bugs();
Result<Target> target_of(std::string_view name);

// One mistake each; claims are (1, 0) or (1, 1e-5).
Result<Target> float_laplace();
Result<Target> l2_bound_with_laplace();
Result<Target> clipping_off();
Result<Target> lower_bound_twice();
Result<Target> per_party_noise();
Result<Target> fresh_noise_on_retry();
Result<Target> ledger_reset_on_restart();
Result<Target> off_support_residual();
Result<Target> low_threshold();
Result<Target> noise_of_one();
Result<Target> noise_twice();

}  // namespace parley::planted
