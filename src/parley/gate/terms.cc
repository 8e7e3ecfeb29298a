#include "parley/gate/terms.h"

#include <string>

#include "parley/base/number.h"
#include "parley/charter/available.h"

namespace parley::gate {
namespace {

using charter::Charter, charter::not_available;

Result<void> check_available(const Charter& charter) {
  if (!charter.complete())
    return Error{Code::kInvalid,
                 "the charter is a draft: " + charter.undecided.front() + " is not decided",
                 "Only a complete charter trains.",
                 {.key = charter.undecided.front()}};
  const charter::Privacy& privacy = charter.privacy;
  if (privacy.calibration != charter::Calibration::kSound)
    return not_available("privacy.calibration", name_of(privacy.calibration), "Use \"sound\".");
  if (privacy.mechanism != charter::MechanismName::kLaplace)
    return not_available("privacy.mechanism", name_of(privacy.mechanism), "Use \"laplace\".");
  if (privacy.clip != charter::Clip::kGradient)
    return not_available("privacy.clip", name_of(privacy.clip), "Use \"gradient\".");
  return {};
}

/// epsilon (1 - evaluate) / kappa, rounded down at every step.
Result<privacy::Epsilon> training_epsilon(const Charter& charter, const charter::Owner& owner) {
  const double kept = next_down(1 - charter.privacy.evaluate);
  const double whole =
      charter.privacy.evaluate == 0 ? owner.epsilon : next_down(owner.epsilon * kept);
  const auto overlap = static_cast<double>(charter.privacy.overlap);
  return privacy::Epsilon::make(overlap == 1 ? whole : next_down(whole / overlap));
}

}  // namespace

Result<Terms> terms_for(const Charter& charter, size_t owner) {
  TRY(check_available(charter));
  const charter::Owner& who = charter.owners.at(owner);
  const auto answers = static_cast<uint32_t>(charter.answers());
  const auto unit_records = static_cast<uint32_t>(charter.privacy.unit_records);
  const auto lattice = TRY(learn::Lattice::make(charter.privacy.max_grad_norm,
                                                static_cast<int>(charter.privacy.grid_bits),
                                                charter.schema.features().size()));
  const double sensitivity = ClipAndSum::sensitivity<L1>(lattice, unit_records);
  const auto epsilon = TRY(training_epsilon(charter, who));
  const auto laplace = TRY(privacy::Laplace::calibrate(sensitivity, answers, epsilon));
  return Terms{.charter = charter.hash,
               .rows = static_cast<uint64_t>(who.rows),
               .answers = answers,
               .box = charter.model.box,
               .unit_records = unit_records,
               .loss = charter::loss_of(charter.model),
               .lattice = lattice,
               .mechanism = laplace};
}

}  // namespace parley::gate
