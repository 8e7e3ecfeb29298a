#include "parley/explain.h"

#include "parley/api/internal.h"
#include "parley/net/doctor/preflight.h"
#include "parley/report/network/owner.h"

namespace parley {

Result<Preflight> preflight(const Policy& handle, const Charter& charter,
                            const PreflightOptions& options) {
  const charter::Policy& policy = handle.internal().policy;
  const auto ledger = TRY(net::look_into_ledger(policy));
  SystemClock clock;
  return net::preflight_of(policy, charter.internal().charter, ledger,
                           {.dial = options.dial, .read_data = options.read_data}, clock);
}

std::string Preflight::explain() const { return charter::explain(*this); }

std::string Preflight::to_json() const { return report::to_json(*this); }

}  // namespace parley
