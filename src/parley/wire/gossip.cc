#include "parley/wire/gossip.h"

#include "parley/base/printable.h"
#include "parley/ledger/storage/row.h"
#include "parley/wire/answer.h"
#include "proto/parley.pb.h"

namespace parley::wire {
Bytes encode(const Gossip& gossip) {
  v1::Gossip proto;
  proto.set_charter(gossip.charter.data(), gossip.charter.size());
  proto.set_round(gossip.round);
  if (gossip.kind != privacy::ReleaseKind::kAnswer)
    proto.set_kind(std::string(ledger::name_of(gossip.kind)));
  for (const std::string& owner : gossip.missing) proto.add_missing(owner);
  if (gossip.answer) {
    v1::TranscriptEntry& entry = *proto.mutable_answer();
    const ReceivedAnswer& answer = gossip.answer->answer();
    entry.set_owner(gossip.answer->owner());
    put(answer.receipt, answer.signature, answer.values, *entry.mutable_answer());
  }
  if (gossip.refused) {
    const Bytes refusal = encode(Envelope{gossip.charter, 0}, gossip.refused->refusal);
    proto.set_refused_by(gossip.refused->owner);
    proto.set_refusal(refusal.data(), refusal.size());
  }
  proto.set_hello(gossip.hello);
  proto.set_welcome(gossip.welcome);
  for (const Proof& proof : gossip.proofs) put(proof, *proto.add_proof());
  Bytes bytes(proto.ByteSizeLong());
  check(bytes.size() <= kMessageBytesMax);
  check(proto.SerializeToArray(bytes.data(), static_cast<int>(bytes.size())));
  return bytes;
}

Result<Gossip> decode_gossip(ByteView bytes) {
  if (bytes.size() > kMessageBytesMax) return malformed("longer than 4 MiB");
  v1::Gossip proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return malformed("not a Parley message");
  if (size_t(proto.missing_size()) > kMissingMax) return malformed("too many names");
  Gossip gossip{.round = proto.round(), .hello = proto.hello(), .welcome = proto.welcome()};
  gossip.charter = TRY(hash_of(proto.charter(), "charter"));
  gossip.kind = TRY(kind_of(proto.kind(), "kind"));
  for (const std::string& name : proto.missing()) gossip.missing.push_back(printable(name));
  if (proto.has_answer()) {
    ReceivedAnswer answer = TRY(answer_of(proto.answer().answer()));
    gossip.answer = Relayed(printable(proto.answer().owner()), std::move(answer));
  }
  if (!proto.refusal().empty()) {
    const auto inside = TRY(decode_from_owner(as_bytes(proto.refusal())));
    const auto* refusal = std::get_if<Refusal>(&inside.body);
    if (refusal == nullptr) return malformed("refusal is something else");
    gossip.refused = {printable(proto.refused_by()), *refusal};
  }
  if (proto.proof_size() > kGossipProofsMax) return malformed("too many proofs");
  for (const v1::Proof& proof : proto.proof()) gossip.proofs.push_back(TRY(proof_of(proof)));
  return gossip;
}

}  // namespace parley::wire
