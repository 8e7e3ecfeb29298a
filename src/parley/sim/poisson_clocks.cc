#include "parley/sim/poisson_clocks.h"

#include "parley/base/bytes.h"
#include "parley/base/math/portable.h"

namespace parley::sim {

uint64_t PoissonClocks::key_of(uint64_t seed, uint64_t run) {
  const Hash hash = TupleBytes().add("parley clocks").add(seed).add(run).sha256();
  return read_little_endian(hash.data());
}

double PoissonClocks::gap(size_t owner) {
  Clock& clock = clocks_[owner];
  return -portable_log(clock.random.uniform()) / clock.rate;
}

}  // namespace parley::sim
