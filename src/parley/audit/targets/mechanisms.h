// Every mechanism of privacy/mechanisms.h as something to attack. A new one in that list is audited
// by itself.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "parley/audit/targets/target.h"

namespace parley::audit {

/// What a mechanism is asked to do.
struct MechanismSetting {
  double epsilon = 1;
  double delta = 1e-5;  // for mechanisms that need one
  uint32_t answers = 1;
  double sensitivity = 0x1p25;  // in lattice units; what one record of a charter has by default
};

/// The names, in the list's order.
std::vector<std::string_view> mechanism_names();

/// Calibrated as an owner's would be; the claim is what the mechanism itself says it costs. The
/// worlds differ by the sensitivity in one coordinate.
Result<Target> mechanism_target(std::string_view name, const MechanismSetting& setting);

}  // namespace parley::audit
