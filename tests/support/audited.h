// What a failed test says about an audit.
#pragma once

#include <string>

#include "parley/audit/audit.h"

namespace parley::test {

inline std::string described(const audit::Audit& audit) {
  return audit.name + ": certified " + std::to_string(audit.found.epsilon()) + " of a claimed " +
         std::to_string(audit.claimed.epsilon) +
         (audit.control ? ", control " + std::to_string(audit.control->epsilon()) : "");
}

}  // namespace parley::test
