// Two worlds of a job over columns in several places, which differ in few records.
#pragma once

#include <functional>
#include <vector>

#include "parley/audit/targets/target.h"
#include "parley/audit/targets/vertical_job.h"

namespace parley::audit {

/// Of every owner; records beside those that change; those that change where the attack must see
/// more than is claimed.
inline constexpr size_t kColumns = 2, kFew = 4, kControl = 16;

/// The charter over few records and two columns of every owner.
charter::Charter narrowed(charter::Charter charter, size_t records);

struct TwoWorlds {
  charter::Charter charter;
  plan::VerticalTerms terms;
  std::vector<data::AnyRows> rows[2]{};  // by owner
};

/// The columns of a record at an owner whose rows may have this norm, and its label.
using RowOf = std::function<std::vector<double>(double norm, size_t record, World)>;
using LabelOf = std::function<double(size_t record, World)>;
TwoWorlds with_rows(charter::Charter charter, plan::VerticalTerms terms, const RowOf& row,
                    const LabelOf& label);

/// What `parley audit` attacks under rules statistics and noisy_sharing.
Result<Target> statistics_target(const charter::Charter& charter, size_t owner);
Result<Target> noisy_target(const charter::Charter& charter, size_t owner);

}  // namespace parley::audit
