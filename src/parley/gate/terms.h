// From a charter to an owner's terms: which clip, which lattice, which noise.
#pragma once

#include "parley/charter/charter.h"
#include "parley/gate/gate.h"

namespace parley::gate {

/// The terms of owner `owner` of the charter. Its epsilon pays for `answers` answers and for the
/// evaluation kept back; with overlap kappa it uses epsilon / kappa, or rho / kappa under Gaussian
/// noise, because a person may sit in kappa data sets, and so with several jobs among which the
/// charter splits it. What this version cannot run soundly is
/// refused, naming the key.
Result<Terms> terms_for(const charter::Charter& charter, size_t owner);

}  // namespace parley::gate
