#include "parley/wire/message.h"

#include <utility>

#include "parley/base/printable.h"
#include "parley/ledger/storage/row.h"
#include "parley/wire/aggregation_parts.h"
#include "parley/wire/answer.h"
#include "parley/wire/vertical_proto.h"
#include "proto/parley.pb.h"

namespace parley::wire {
namespace {

template <class Proto>
Proto with(const Envelope& envelope) {
  Proto proto;
  proto.set_charter(envelope.charter.data(), envelope.charter.size());
  proto.set_sequence(envelope.sequence);
  return proto;
}

template <class Proto>
Bytes serialized(const Proto& proto) {
  Bytes bytes(proto.ByteSizeLong());
  check(bytes.size() <= kMessageBytesMax);
  check(proto.SerializeToArray(bytes.data(), static_cast<int>(bytes.size())));
  return bytes;
}

template <class Proto>
Result<Proto> parse(ByteView bytes) {
  if (bytes.size() > kMessageBytesMax) return malformed("longer than 4 MiB");
  // A peer's bytes must not write into our log; the error below says what happened.
  [[maybe_unused]] static const auto before = google::protobuf::SetLogHandler(nullptr);
  Proto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return malformed("not a Parley message");
  return proto;
}

/// Claim and Query, Grant and Answer have the same place in their envelopes: what has more to say
/// than a claim or a grant is the other, sent back to who made it. The lite runtime keeps unknown
/// fields but does not show them: they make a message longer than its known ones do.
bool is_pure(const v1::Claim& claim) {
  v1::Claim known;
  known.set_round(claim.round());
  return claim.ByteSizeLong() == known.ByteSizeLong();
}

bool is_pure(const v1::Grant& grant) {
  v1::Grant known;
  known.set_round(grant.round());
  known.set_granted(grant.granted());
  return grant.ByteSizeLong() == known.ByteSizeLong();
}

template <class Proto>
Result<Envelope> envelope_of(const Proto& proto) {
  return Envelope{TRY(hash_of(proto.charter(), "charter")), proto.sequence()};
}

v1::Code to_proto(Code code) {
  constexpr v1::Code kCodes[] = {v1::INVALID,     v1::BUDGET_EXHAUSTED, v1::POLICY,
                                 v1::UNAVAILABLE, v1::INTEGRITY,        v1::INTERNAL};
  return kCodes[static_cast<int>(code)];
}

Code from_proto(v1::Code code) {
  for (Code known : {Code::kInvalid, Code::kBudgetExhausted, Code::kPolicy, Code::kUnavailable,
                     Code::kIntegrity})
    if (to_proto(known) == code) return known;
  return Code::kFailed;
}

template <class Message, class Proto>
Message reason_of(const Proto& proto) {
  return {from_proto(proto.code()), printable(proto.text())};
}

constexpr int kProofsMax = 16;

Result<Welcome> welcome_of(const v1::Welcome& proto) {
  Welcome welcome{proto.version(), proto.next_round(), {}};
  if (proto.proof_size() > kProofsMax) return malformed("too many proofs");
  for (const v1::Proof& each : proto.proof()) welcome.proofs.push_back(TRY(proof_of(each)));
  return welcome;
}

}  // namespace

Bytes encode(const Envelope& envelope, const Hello& hello) {
  auto proto = with<v1::FromOwner>(envelope);
  proto.mutable_hello()->set_version(hello.version);
  proto.mutable_hello()->set_last_round(hello.last_round);
  if (hello.sharing) put(*hello.sharing, *proto.mutable_hello());
  if (hello.approval) proto.mutable_hello()->set_approval(text_of(*hello.approval));
  return serialized(proto);
}

Bytes encode(const Envelope& envelope, const Welcome& welcome) {
  auto proto = with<v1::ToOwner>(envelope);
  proto.mutable_welcome()->set_version(welcome.version);
  proto.mutable_welcome()->set_next_round(welcome.next_round);
  for (const Proof& proof : welcome.proofs) put(proof, *proto.mutable_welcome()->add_proof());
  return serialized(proto);
}

Bytes encode(const Envelope& envelope, const Query& query) {
  auto proto = with<v1::ToOwner>(envelope);
  proto.mutable_query()->set_round(query.round);
  for (double value : query.theta.values()) proto.mutable_query()->add_theta(value);
  if (query.kind != privacy::ReleaseKind::kAnswer)
    proto.mutable_query()->set_kind(std::string(ledger::name_of(query.kind)));
  for (const Signature& each : query.approvals)
    proto.mutable_query()->mutable_approvals()->append(text_of(each));
  return serialized(proto);
}

Bytes encode(const Envelope& envelope, const Claim& claim) {
  auto proto = with<v1::FromOwner>(envelope);
  proto.mutable_claim()->set_round(claim.round);
  return serialized(proto);
}

Bytes encode(const Envelope& envelope, const Grant& grant) {
  auto proto = with<v1::ToOwner>(envelope);
  proto.mutable_grant()->set_round(grant.round);
  proto.mutable_grant()->set_granted(grant.granted);
  return serialized(proto);
}

Bytes encode(const Envelope& envelope, const Answer& answer) {
  auto proto = with<v1::FromOwner>(envelope);
  put(answer.released.receipt(), answer.signature, answer.released.values(),
      *proto.mutable_answer());
  return serialized(proto);
}

Bytes encode(const Envelope& envelope, const Refusal& refusal) {
  auto proto = with<v1::FromOwner>(envelope);
  proto.mutable_refusal()->set_code(to_proto(refusal.code));
  proto.mutable_refusal()->set_text(refusal.text);
  return serialized(proto);
}

Bytes encode(const Envelope& envelope, const Finished& finished) {
  auto proto = with<v1::ToOwner>(envelope);
  proto.mutable_finished()->set_model_sha256(finished.model.data(), finished.model.size());
  for (const ModelPart& part : finished.parts) put(part, *proto.mutable_finished()->add_part());
  return serialized(proto);
}

Bytes encode(const Envelope& envelope, const Abort& abort) {
  auto proto = with<v1::ToOwner>(envelope);
  proto.mutable_abort()->set_code(to_proto(abort.code));
  proto.mutable_abort()->set_text(abort.text);
  return serialized(proto);
}

Bytes encode(const Envelope& envelope, const FromMember& message) {
  auto proto = with<v1::FromOwner>(envelope);
  put(message, *proto.mutable_aggregation());
  return serialized(proto);
}

Bytes encode(const Envelope& envelope, const MaskedPart& part) {
  auto proto = with<v1::FromOwner>(envelope);
  put(part, *proto.mutable_aggregation());
  return serialized(proto);
}

Bytes encode(const Envelope& envelope, const ToMember& message) {
  auto proto = with<v1::ToOwner>(envelope);
  put(message, *proto.mutable_aggregation());
  return serialized(proto);
}

Bytes encode(const Envelope& envelope, const ModelPart& part) {
  auto proto = with<v1::FromOwner>(envelope);
  put(part, *proto.mutable_part());
  return serialized(proto);
}

Bytes encode(const Envelope& envelope, const Session& session) {
  auto proto = with<v1::ToOwner>(envelope);
  put(session, *proto.mutable_session());
  return serialized(proto);
}

Bytes encode(const Envelope& envelope, const DealerShare& share) {
  auto proto = with<v1::ToOwner>(envelope);
  put(share, *proto.mutable_dealer());
  return serialized(proto);
}

Bytes encode(const Envelope& envelope, const Letter& letter) {
  if (letter.leg == Leg::kDown) {
    auto proto = with<v1::ToOwner>(envelope);
    put(letter.sealed, *proto.mutable_sealed());
    return serialized(proto);
  }
  auto proto = with<v1::FromOwner>(envelope);
  put(letter.sealed, *proto.mutable_sealed());
  return serialized(proto);
}

Bytes encode(const Envelope& envelope, const TokensOfIds& piece) {
  if (piece.leg == Leg::kDown) {
    auto proto = with<v1::ToOwner>(envelope);
    put(piece.tokens, *proto.mutable_tokens());
    return serialized(proto);
  }
  auto proto = with<v1::FromOwner>(envelope);
  put(piece.tokens, *proto.mutable_tokens());
  return serialized(proto);
}

Result<ToOwner> decode_to_owner(ByteView bytes) {
  const auto proto = TRY(parse<v1::ToOwner>(bytes));
  ToOwner message{TRY(envelope_of(proto)), Welcome{}};
  if (proto.has_welcome()) {
    message.body = TRY(welcome_of(proto.welcome()));
  } else if (proto.has_query()) {
    const auto& theta = proto.query().theta();
    const auto kind = TRY(kind_of(proto.query().kind(), "query.kind"));
    auto approvals = TRY(fields_of<Signature>(proto.query().approvals(), "approvals"));
    message.body = ReceivedQuery{
        proto.query().round(), {theta.begin(), theta.end()}, kind, std::move(approvals)};
  } else if (proto.has_grant() && is_pure(proto.grant())) {
    message.body = Grant{proto.grant().round(), proto.grant().granted()};
  } else if (proto.has_finished()) {
    Finished finished;
    finished.model = TRY(hash_of(proto.finished().model_sha256(), "model"));
    finished.parts = TRY(model_parts_of(proto.finished()));
    message.body = std::move(finished);
  } else if (proto.has_abort()) {
    message.body = reason_of<Abort>(proto.abort());
  } else if (proto.has_aggregation()) {
    message.body = TRY(to_member_of(proto.aggregation()));
  } else if (proto.has_sealed()) {
    message.body = TRY(sealed_of(proto.sealed()));
  } else if (proto.has_dealer()) {
    message.body = TRY(dealer_share_of(proto.dealer()));
  } else if (proto.has_session()) {
    message.body = TRY(session_of(proto.session()));
  } else if (proto.has_tokens()) {
    message.body = TRY(id_tokens_of(proto.tokens()));
  } else {
    return malformed("of a kind an owner does not expect here");
  }
  return message;
}

Result<FromOwner> decode_from_owner(ByteView bytes) {
  const auto proto = TRY(parse<v1::FromOwner>(bytes));
  FromOwner message{TRY(envelope_of(proto)), Hello{}};
  if (proto.has_hello()) {
    Hello hello{proto.hello().version(), proto.hello().last_round(), {}};
    hello.sharing = TRY(vertical_hello_of(proto.hello()));
    if (!proto.hello().approval().empty())
      hello.approval = TRY(plain_signature(proto.hello().approval(), "approval"));
    message.body = std::move(hello);
  } else if (proto.has_claim() && is_pure(proto.claim())) {
    message.body = Claim{proto.claim().round()};
  } else if (proto.has_answer()) {
    message.body = TRY(answer_of(proto.answer()));
  } else if (proto.has_refusal()) {
    message.body = reason_of<Refusal>(proto.refusal());
  } else if (proto.has_aggregation()) {
    message.body = TRY(from_member_of(proto.aggregation()));
  } else if (proto.has_sealed()) {
    message.body = TRY(sealed_of(proto.sealed()));
  } else if (proto.has_part()) {
    message.body = TRY(model_part_of(proto.part()));
  } else if (proto.has_tokens()) {
    message.body = TRY(id_tokens_of(proto.tokens()));
  } else {
    return malformed("of a kind a learner does not expect here");
  }
  return message;
}

}  // namespace parley::wire
