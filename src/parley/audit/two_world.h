// The two-world audit: many plays in each of two neighbouring worlds. The threshold that tells them
// apart best is chosen on the first half of the plays and counted on the second, so that choosing
// proves nothing by itself.
#pragma once

#include <functional>

#include "parley/audit/bounds.h"
#include "parley/audit/targets/target.h"

namespace parley::audit {

struct Effort {
  uint64_t runs = 0;    // plays in each world
  double alpha = 1e-6;  // how often the certificate may be wrong
  uint64_t seed = 1;    // same seed, same certificate, on any number of threads
  int threads = 1;
  std::function<bool(uint64_t plays)> go_on = [](uint64_t) { return true; };  // false: stop
};

using parley::Certificate;

/// Both bounds together are wrong with probability at most effort.alpha.
Result<Certificate> two_world(const Play& play, const Claim& claim, const Effort& effort);

}  // namespace parley::audit
