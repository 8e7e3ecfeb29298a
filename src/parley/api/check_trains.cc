#include "parley/api/check_trains.h"

#include "parley/data/readers/csv_signs.h"
#include "parley/plan/can_run.h"
#include "parley/protocol/make_learner.h"
#include "parley/sim/engine/party.h"

namespace parley::api {

Result<void> check_trains(charter::Charter charter) {
  if (!charter.complete() || !charter.protocol.protects()) return {};
  if (charter.privacy.calibration == charter::Calibration::kPaper) return {};
  const auto is_there = [&](const std::string& file) {
    std::error_code ignored;
    return std::filesystem::exists(charter.folder / file, ignored);
  };
  const std::filesystem::path folders[] = {charter.folder};
  const bool bundle = !charter.preprocess || is_there(charter.preprocess->bundle);
  if (charter.preprocess && bundle) TRY(charter::load_bundle(charter, folders));
  if (!charter.central() || charter.protocol.learners.owner) return {};  // jobs of their own
  for (size_t i = 0; i < charter.owners.size(); ++i) TRY(plan::can_run(charter, i));
  for (charter::Owner& owner : charter.owners)  // A simulation needs no keys, `owner check` asks.
    if (!owner.sign_key) owner.sign_key = sim::simulated_key(owner.name).public_key();
  if (!bundle || (charter.pilot && !is_there(charter.pilot->file))) return {};
  const auto pilot = TRY(charter::load_pilot(charter, folders, data::kFindSigns));
  // Nothing is dealt: any key will do.
  const auto dealer = protocol::has_dealer(charter) ? std::optional(Secret32{}) : std::nullopt;
  TRY(protocol::make_learner(charter, pilot.get(), protocol::Receipts::kUnsigned, dealer));
  return {};
}

}  // namespace parley::api
