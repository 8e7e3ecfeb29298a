// Programs and libraries that a policy makes an owner's machine run beside parley itself.
#pragma once

#include <string>
#include <vector>

#include "parley/charter/policy.h"

namespace parley::charter {

struct Program {
  std::filesystem::path file;
  Result<Hash> hash;  // of the file; an error if it cannot be read
};

/// Of a data set: its ADBC driver; of its command the program, as PATH finds it, and arguments that
/// name a script or a library (.py, .sh, .R, .jar, .js, .so). What these load themselves is not
/// seen.
std::vector<Program> programs_of(const Policy& policy, const Dataset& data);

}  // namespace parley::charter
