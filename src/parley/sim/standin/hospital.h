// Generated stand-in for hospital discharges: the centred logarithm of the length of stay from ten
// whitened covariates. Hospitals differ a little, speciality hospitals a lot (theory (W14)).
#pragma once

#include "parley/sim/standin/standin.h"

namespace parley::sim {

/// Sizes as of a state's hospitals: 10,000 each and a log-normal share of the rest; 86 hospitals
/// with 1.9 million rows by default.
std::vector<uint64_t> hospital_sizes(size_t hospitals = 86, uint64_t rows = 1'900'000,
                                     uint64_t seed = 1);

/// Columns x1 .. x10 and the target log_los in [-1.5, 2.5]. Of 86 hospitals 8 are speciality
/// hospitals, of others as large a part, rounded.
Standin hospital_standin(const StandinOptions& options);

/// Which they are.
std::vector<bool> special_hospitals(const StandinOptions& options);

}  // namespace parley::sim
