// What jobs over columns in several places need beyond the protocol: an owner's aligned records and
// the files of its part of the model, and the dealer's key.
#pragma once

#include <optional>

#include "parley/base/crypto/shamir.h"
#include "parley/learn/vertical/aligned_rows.h"
#include "parley/net/owner.h"
#include "parley/protocol/make_owner.h"

namespace parley::net {

/// The records of an owner of columns, and what it brings besides; none where owners hold records.
struct OwnColumns {
  gate::Records records;
  protocol::ColumnsSetting setting;
};
Result<std::optional<OwnColumns>> own_columns(const charter::Policy& policy, const Ready& ready,
                                              size_t place);

/// This owner's records as the charter's other parties order theirs. An error says how many had no
/// id of their own.
Result<learn::AlignedRows> aligned_rows(const charter::Policy& policy, const charter::Dataset& data,
                                        const charter::Charter& charter, size_t place);

/// Where an owner's part of a job's model lies.
std::filesystem::path part_folder(const charter::Policy& policy, const Hash& charter);

/// None where the charter has no dealer. Kept in the learner's folder: whoever reads it knows the
/// noise, and without it a job cannot be resumed.
Result<std::optional<Secret32>> dealer_key(const charter::Charter& charter,
                                           const std::filesystem::path& folder, Entropy& entropy);

/// Once every owner has its part: with the key anyone could take masks and noise off what was sent.
void forget_dealer_key(const std::filesystem::path& folder);

}  // namespace parley::net
