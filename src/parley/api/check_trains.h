// Checks without training whether training would accept a charter.
#pragma once

#include "parley/charter/charter.h"

namespace parley::api {

/// What training would refuse, as far as the charter and public files beside it tell: every owner's
/// terms, and the learner's plan, for which rules may need the pilot.
Result<void> check_trains(charter::Charter charter);

}  // namespace parley::api
