// Brings the records of several parties into one order by their ids. Every party digests each id
// under a key that the parties share, sorts by digest, and shows a hash of the list. Equal hashes
// mean equal ids, whatever the order of the files was.
//
// This is not private set intersection: whoever knows the key can digest ids that it guesses, such
// as numbers of a known format, and find out whether a record has them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/base/crypto/shamir.h"
#include "parley/base/result.h"

namespace parley::learn {

using IdDigest = std::array<uint8_t, 16>;
using IdDigests = std::vector<IdDigest>;

struct Alignment {
  std::vector<IdDigest> digests{};  // in rising order, each once
  std::vector<uint64_t> rows{};     // the row of each
  uint64_t missing = 0;             // rows without an id, which are left out
  uint64_t repeated = 0;            // rows of an id that came before, likewise

  /// Of the list: what is compared.
  Hash hash() const;
};

/// Digests as messages hold them.
Bytes bytes_of(std::span<const IdDigest> digests);
/// Nothing for bytes that are no list of digests, or one that does not rise.
std::optional<std::vector<IdDigest>> digests_in(ByteView bytes);

/// Blanks around an id do not count; an id of nothing else is missing.
Alignment align(std::span<const std::string> ids, const Secret32& key);

/// An error that says how two parties' records differ, if they do.
Result<void> same_records(const std::string& one, const Alignment& first, const std::string& other,
                          const Alignment& second);

/// Only the records that all of `lists` hold. The size of what is left is then known to all.
Alignment intersected(const Alignment& own, std::span<const std::vector<IdDigest>> lists);

}  // namespace parley::learn
