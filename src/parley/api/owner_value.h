// What a job would be or was worth on an owner's own rows, for that owner alone.
//
// It reads the owner's records and public files, sends nothing, opens no ledger and keeps nothing
// but the personal model, if one is asked for. Its result depends on the records without noise.
// Nobody but the owner may see it, and no daemon calls it, so automatic approval cannot depend on
// it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/charter/policy.h"
#include "parley/data/sources/cells.h"
#include "parley/report/network/owner_value.h"

namespace parley::api {

struct OwnerLookOptions {
  std::filesystem::path model{};           // the joint model's file; empty: before the job
  std::filesystem::path out{};             // for the personal model, which needs the joint one
  double held_out = .2;                    // the part of own rows to judge by
  uint64_t seed = 1;                       // of what is held out
  std::optional<double> worth{};           // least material gain; none: the policy's
  std::vector<std::string> own_columns{};  // numbers that the charter lacks
};

/// kIntegrity if the model is not this charter's; kInvalid if the charter trains no single model
/// for all owners, or the rows held out do not define the metric.
Result<report::OwnerLook> look_at_value(const charter::Policy& policy, charter::Charter charter,
                                        const OwnerLookOptions& options);

/// The same of rows in memory, by the owner's name in the charter.
struct OwnTable {
  std::string owner{};
  std::shared_ptr<const data::Cells> rows{};
  int threads = 0;  // 0: as many as the machine has
};
Result<report::OwnerLook> look_at_value(const OwnTable& own, charter::Charter charter,
                                        const OwnerLookOptions& options);

}  // namespace parley::api
