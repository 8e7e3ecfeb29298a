#include "parley/wire/answer.h"

#include <google/protobuf/stubs/logging.h>

#include <algorithm>

#include "parley/ledger/storage/row.h"
#include "proto/parley.pb.h"

namespace parley::wire {
namespace {

constexpr size_t kEventBytesMax = 1000;

/// Protobuf would write into a daemon's log whatever it dislikes in a stranger's bytes; the errors
/// made here say it once.
[[maybe_unused]] const auto protobuf_log = google::protobuf::SetLogHandler(nullptr);

}  // namespace

Error malformed(const std::string& what) {
  return {Code::kIntegrity, "malformed message: " + what,
          "The peer speaks another version, or lies."};
}

Result<Hash> hash_of(const std::string& field, const char* name) {
  Hash hash;
  if (field.size() != hash.size()) return malformed(std::string(name) + " is not 32 bytes");
  std::copy(field.begin(), field.end(), hash.begin());
  return hash;
}

Result<privacy::ReleaseKind> kind_of(const std::string& field, const char* name) {
  const auto kind = ledger::release_kind(field.empty() ? "answer" : field);
  if (!kind) return malformed(std::string(name) + " is unknown");
  return *kind;
}

Result<Signature> plain_signature(const std::string& field, const char* name) {
  Signature signature;
  if (field.size() != signature.size()) return malformed(std::string(name) + " is not 64 bytes");
  std::copy(field.begin(), field.end(), signature.begin());
  return signature;
}

Result<std::optional<Signature>> signature_of(const v1::Receipt& proto) {
  if (proto.signature().empty()) return std::optional<Signature>();
  return std::optional(TRY(plain_signature(proto.signature(), "receipt.signature")));
}

Result<privacy::Receipt> receipt_of(const v1::Receipt& proto) {
  if (proto.event().size() > kEventBytesMax) return malformed("receipt.event is too long");
  const auto kind = TRY(kind_of(proto.kind(), "receipt.kind"));
  privacy::Receipt receipt{.round = proto.round(),
                           .event = proto.event(),
                           .epsilon_spent = proto.epsilon_spent(),
                           .delta_spent = proto.delta_spent(),
                           .kind = kind};
  receipt.chain = TRY(hash_of(proto.chain(), "receipt.chain"));
  receipt.query = TRY(hash_of(proto.query(), "receipt.query"));
  receipt.answer = TRY(hash_of(proto.answer(), "receipt.answer"));
  receipt.job = TRY(hash_of(proto.job(), "receipt.job"));
  return receipt;
}

Result<ReceivedAnswer> answer_of(const v1::Answer& proto) {
  if (proto.values().size() % 8 != 0) return malformed("values are not whole numbers of 8 bytes");
  ReceivedAnswer answer{
      .round = proto.round(), .values = values_of(as_bytes(proto.values())), .receipt = {}};
  answer.receipt = TRY(receipt_of(proto.receipt()));
  answer.signature = TRY(signature_of(proto.receipt()));
  return answer;
}

void put(const privacy::Receipt& receipt, const std::optional<Signature>& signature,
         std::span<const int64_t> values, v1::Answer& out) {
  const Bytes bytes = bytes_of(values);
  out.set_round(receipt.round);
  out.set_values(bytes.data(), bytes.size());
  put(receipt, signature, *out.mutable_receipt());
}

void put(const privacy::Receipt& receipt, const std::optional<Signature>& signature,
         v1::Receipt& proto) {
  proto.set_round(receipt.round);
  proto.set_event(receipt.event);
  proto.set_epsilon_spent(receipt.epsilon_spent);
  proto.set_delta_spent(receipt.delta_spent);
  proto.set_chain(text_of(receipt.chain));
  proto.set_query(text_of(receipt.query));
  proto.set_answer(text_of(receipt.answer));
  proto.set_job(text_of(receipt.job));
  if (signature) proto.set_signature(text_of(*signature));
  if (receipt.kind != privacy::ReleaseKind::kAnswer)
    proto.set_kind(std::string(ledger::name_of(receipt.kind)));
}

Result<Proof> proof_of(const v1::Proof& proto) {
  Proof proof;
  proof.charter = TRY(hash_of(proto.charter(), "proof.charter"));
  proof.receipt = TRY(receipt_of(proto.receipt()));
  const auto signature = TRY(signature_of(proto.receipt()));
  if (!signature) return malformed("proof.receipt is not signed");
  proof.signature = *signature;
  return proof;
}

void put(const Proof& proof, v1::Proof& out) {
  out.set_charter(text_of(proof.charter));
  put(proof.receipt, proof.signature, *out.mutable_receipt());
}

Bytes signed_bytes(const Hash& charter, std::string_view owner, const privacy::Receipt& receipt) {
  TupleBytes tuple;
  tuple.add(charter).add(owner).add(uint64_t{receipt.round}).add(receipt.event);
  tuple.add(receipt.epsilon_spent).add(receipt.delta_spent);
  tuple.add(receipt.chain).add(receipt.query).add(receipt.answer).add(receipt.job);
  if (receipt.kind != privacy::ReleaseKind::kAnswer) tuple.add(ledger::name_of(receipt.kind));
  return tuple.bytes();
}

}  // namespace parley::wire
