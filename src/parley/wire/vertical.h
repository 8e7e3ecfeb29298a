// What only jobs over columns in several places say (protocol/vertical).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/base/crypto/shamir.h"
#include "parley/base/crypto/signature.h"

namespace parley::wire {

/// In an owner's greeting. None of it says anything about a record but which there are.
struct VerticalHello {
  Hash records{};  // digest of the ordered ids: learn/vertical/alignment.h
  Hash columns{};  // of what the columns hold, under a key that only the owner knows; none before
                   // records are aligned
  Hash key{};      // X25519, fresh
  std::optional<Signature> signature{};  // of the key; none in a simulation
  uint32_t opened = 0;                   // rounds whose result this process holds
  uint32_t session = 0;                  // of a second greeting: in which records were aligned
  bool operator==(const VerticalHello&) const = default;
};

/// An owner, as the others are told of it.
struct Peer {
  std::string owner{};
  Hash key{};
  std::optional<Signature> signature{};
  bool operator==(const Peer&) const = default;
};

/// Everyone is there: rounds begin, or begin again, at this one; or, at 0, records are aligned.
struct Session {
  uint32_t session = 0, first_round = 0;
  std::vector<Peer> peers{};  // all owners, in the charter's order
};

/// The dealer's masks for one owner and round, as a seed, and its correction. Round 0 is the setup.
struct DealerShare {
  uint32_t session = 0, round = 0;
  Secret32 seed{};
  std::vector<uint64_t> correction{};
};

/// An owner has its part of the model, in a file of this hash, which tells nothing: there is a salt
/// in it.
struct ModelPart {
  std::string owner{};
  Hash sha256{};
  uint32_t session = 0;  // in which it was made; none in a farewell
  bool operator==(const ModelPart&) const = default;
};

/// A piece of a rising list of tokens of ids: from an owner those of its own, to it those that all
/// owners have. Nobody can make a token of an id without all of them.
struct IdTokens {
  uint32_t session = 0;
  uint32_t part = 0, parts = 1;  // counted from 0
  Bytes tokens{};                // kTokenBytes each
  bool operator==(const IdTokens&) const = default;
};
inline constexpr size_t kTokenBytes = 16;

/// The pieces of such a list.
std::vector<IdTokens> in_pieces(uint32_t session, ByteView tokens);

/// What an owner signs, so that nobody between can put a key of his own in place of its key.
Bytes signed_key(const Hash& charter, std::string_view owner, const Hash& key);

}  // namespace parley::wire
