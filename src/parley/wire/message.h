// What may leave the process: Public, Released and Masked messages, the keys and signatures of
// secure aggregation, greetings, and refusals that state public facts. Adding an encoder here is a
// privacy decision. The bytes are those of proto/parley.proto.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/base/crypto/signature.h"
#include "parley/base/result.h"
#include "parley/privacy/flow.h"
#include "parley/wire/aggregation.h"
#include "parley/wire/sealed.h"
#include "parley/wire/vertical.h"

namespace parley::wire {

/// On every message. A wrong charter, or a sequence that is not the last one + 1, ends the stream.
struct Envelope {
  Hash charter{};
  uint64_t sequence = 0;
};

/// Of the messages; both sides must speak the same. 2: the graph of secure sums is drawn by its
/// members.
inline constexpr uint32_t kVersion = 2;

// What is sent, and received as it was.
struct Hello {
  uint32_t version = kVersion;
  uint32_t last_round = 0;  // the last that this owner's ledger has answered
  std::optional<VerticalHello> sharing{};
  std::optional<Signature> approval{};  // of the charter, under secure aggregation
};
/// A receipt that an owner has signed, shown to it again.
struct Proof {
  Hash charter{};
  privacy::Receipt receipt{};
  Signature signature{};
  bool operator==(const Proof&) const = default;
};
struct Welcome {
  uint32_t version = kVersion;
  uint32_t next_round = 0;      // the next that this owner will be asked
  std::vector<Proof> proofs{};  // the newest of its receipts that the learner holds
};
/// Asynchronous jobs: an owner would answer this round now, and may, or not now.
struct Claim {
  uint32_t round = 0;
};
struct Grant {
  uint32_t round = 0;
  bool granted = false;
};
struct Finished {
  Hash model{};
  std::vector<ModelPart> parts{};  // sharing: what the manifest binds
};
struct Refusal {  // of an owner
  Code code;
  std::string text;  // public facts only
};
struct Abort {  // of the learner
  Code code;
  std::string text;
};

// What is sent.
struct Query {
  uint32_t round = 0;
  privacy::Public theta;
  privacy::ReleaseKind kind = privacy::ReleaseKind::kAnswer;
  std::vector<Signature> approvals{};  // of all owners, with the first of a stream, likewise
};
struct Answer {
  privacy::Released released;
  std::optional<Signature> signature{};  // over signed_bytes; none in a simulation
};

Bytes encode(const Envelope& envelope, const Hello& hello);
Bytes encode(const Envelope& envelope, const Welcome& welcome);
Bytes encode(const Envelope& envelope, const Query& query);
Bytes encode(const Envelope& envelope, const Claim& claim);
Bytes encode(const Envelope& envelope, const Grant& grant);
Bytes encode(const Envelope& envelope, const Answer& answer);
Bytes encode(const Envelope& envelope, const Refusal& refusal);
Bytes encode(const Envelope& envelope, const Finished& finished);
Bytes encode(const Envelope& envelope, const Abort& abort);
Bytes encode(const Envelope& envelope, const FromMember& message);
Bytes encode(const Envelope& envelope, const MaskedPart& part);
Bytes encode(const Envelope& envelope, const ToMember& message);
Bytes encode(const Envelope& envelope, const ModelPart& part);
Bytes encode(const Envelope& envelope, const Session& session);
Bytes encode(const Envelope& envelope, const DealerShare& share);
/// From an owner to the learner, which sends it to the other.
enum class Leg { kUp, kDown };
struct Letter {
  const Sealed& sealed;
  Leg leg;
};
Bytes encode(const Envelope& envelope, const Letter& letter);
struct TokensOfIds {
  const IdTokens& tokens;
  Leg leg;
};
Bytes encode(const Envelope& envelope, const TokensOfIds& piece);

template <class T>
concept Sendable = requires(const Envelope& envelope, const T& message) {
  { encode(envelope, message) } -> std::same_as<Bytes>;
};

// What is received: plain values, which the receiver does not trust.
struct ReceivedQuery {
  uint32_t round = 0;
  std::vector<double> theta;
  privacy::ReleaseKind kind = privacy::ReleaseKind::kAnswer;
  std::vector<Signature> approvals{};
};
struct ReceivedAnswer {
  uint32_t round = 0;
  std::vector<int64_t> values;
  privacy::Receipt receipt;
  std::optional<Signature> signature{};
};
/// A step of secure aggregation; a masked vector with its receipt looks like an answer.
struct ReceivedFromMember {
  uint32_t attempt = 0;
  std::variant<MemberKeys, RevealedNumber, SealedShareList, ReceivedAnswer, MemberConsent,
               OpenedShareList>
      step;
};
struct ToOwner {
  Envelope envelope;
  std::variant<Welcome, ReceivedQuery, Grant, Finished, Abort, ToMember, Sealed, DealerShare,
               Session, IdTokens>
      body;
};
struct FromOwner {
  Envelope envelope;
  std::variant<Hello, Claim, ReceivedAnswer, Refusal, ReceivedFromMember, Sealed, ModelPart,
               IdTokens>
      body;
};

/// Longer messages are refused before they are parsed.
inline constexpr size_t kMessageBytesMax = 4 << 20;

/// What an owner signs: nobody can change the question, the answer or the price afterwards.
Bytes signed_bytes(const Hash& charter, std::string_view owner, const privacy::Receipt& receipt);

Result<ToOwner> decode_to_owner(ByteView bytes);
Result<FromOwner> decode_from_owner(ByteView bytes);

}  // namespace parley::wire
