#include "parley/net/transport/ticks.h"

#include "parley/base/math/portable.h"

namespace parley::net {

void PoissonTicks::restart(Moment from) {
  const double uniform = (static_cast<double>(entropy_.word() >> 12) + .5) * 0x1p-52;
  const std::chrono::duration<double> gap(-portable_log(uniform) / rate_);
  next_ = from + std::chrono::duration_cast<std::chrono::steady_clock::duration>(gap);
}

}  // namespace parley::net
