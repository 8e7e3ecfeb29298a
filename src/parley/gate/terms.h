// From a charter to an owner's terms: which clip, which lattice, which noise.
#pragma once

#include "parley/charter/charter.h"
#include "parley/gate/gate.h"

namespace parley::gate {

/// What an owner's epsilon buys.
enum class Part { kTraining, kEvaluation };

/// The rho of an owner's promise that all of a part may cost, where noise is Gaussian; what is kept
/// for the evaluation is what lies between the rho of the whole and that of the training.
Result<privacy::Rho> rho_for(const charter::Charter& charter, const charter::Owner& owner,
                             Part part);

/// What an evaluation adds up of every record, if the charter keeps epsilon for one.
Result<std::optional<learn::EvaluationMap>> evaluation_map(const charter::Charter& charter);

/// The terms of owner `owner` of the charter. Its epsilon pays for `answers` answers and for the
/// evaluation kept back; with overlap kappa it uses epsilon / kappa, or rho / kappa under Gaussian
/// noise, because a person may sit in kappa data sets, and so with several jobs among which the
/// charter splits it. What this version cannot run soundly is
/// refused, naming the key.
Result<Terms> terms_for(const charter::Charter& charter, size_t owner);

}  // namespace parley::gate
