// What jobs over columns in several places need beyond the protocol: an owner's aligned records and
// the files of its part of the model, and the dealer's key.
#pragma once

#include <functional>

#include "parley/base/crypto/shamir.h"
#include "parley/learn/vertical/aligned_rows.h"
#include "parley/net/owner.h"

namespace parley::net {

/// `approve` chains a person's approval, where one is needed.
Result<std::unique_ptr<protocol::Owner>> open_vertical_owner(
    const OwnerContext& context, const charter::Charter& charter, size_t place,
    const charter::Dataset& data, SigningKey key,
    const std::function<Result<void>(ledger::DatasetId)>& approve);

/// This owner's records as the charter's other parties order theirs. An error says how many had no
/// id of their own.
Result<learn::AlignedRows> aligned_rows(const charter::Policy& policy, const charter::Dataset& data,
                                        const charter::Charter& charter, size_t place);

/// Where an owner's part of a job's model lies.
std::filesystem::path part_folder(const charter::Policy& policy, const Hash& charter);

/// None where the charter has no dealer. Kept in the learner's folder: whoever reads it knows the
/// noise, and without it a job cannot be resumed.
Result<std::optional<Secret32>> dealer_key(const charter::Charter& charter,
                                           const std::filesystem::path& folder, bool resume,
                                           Entropy& entropy);

}  // namespace parley::net
