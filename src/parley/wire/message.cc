#include "parley/wire/message.h"

#include <algorithm>
#include <utility>

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
Bytes bytes_of(const Proto& proto) {
  Bytes bytes(proto.ByteSizeLong());
  check(bytes.size() <= kMessageBytesMax);
  check(proto.SerializeToArray(bytes.data(), static_cast<int>(bytes.size())));
  return bytes;
}

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

void put(const privacy::Receipt& receipt, v1::Receipt& out) {
  out.set_round(receipt.round);
  out.set_event(receipt.event);
  out.set_epsilon_spent(receipt.epsilon_spent);
  out.set_delta_spent(receipt.delta_spent);
  out.set_chain(receipt.chain.data(), receipt.chain.size());
}

Result<ReceivedAnswer> answer_of(const v1::Answer& proto) {
  if (proto.values().size() % 8 != 0) return malformed("values are not whole numbers of 8 bytes");
  ReceivedAnswer answer{.round = proto.round(), .values = {}, .receipt = {}};
  const auto* bytes = reinterpret_cast<const uint8_t*>(proto.values().data());
  for (size_t i = 0; i < proto.values().size(); i += 8)
    answer.values.push_back(static_cast<int64_t>(read_little_endian(bytes + i)));
  const v1::Receipt& receipt = proto.receipt();
  const Hash chain = TRY(hash_of(receipt.chain(), "receipt.chain"));
  answer.receipt = {receipt.round(), receipt.event(), receipt.epsilon_spent(),
                    receipt.delta_spent(), chain};
  return answer;
}

}  // namespace

Bytes encode(const Envelope& envelope, const Query& query) {
  auto proto = with<v1::ToOwner>(envelope);
  proto.mutable_query()->set_round(query.round);
  for (double value : query.theta.values()) proto.mutable_query()->add_theta(value);
  return bytes_of(proto);
}

Bytes encode(const Envelope& envelope, const Finished& finished) {
  auto proto = with<v1::ToOwner>(envelope);
  proto.mutable_finished()->set_model_sha256(finished.model.data(), finished.model.size());
  return bytes_of(proto);
}

Bytes encode(const Envelope& envelope, const Answer& answer) {
  auto proto = with<v1::FromOwner>(envelope);
  Bytes values;
  for (int64_t value : answer.released.values())
    append_little_endian(values, static_cast<uint64_t>(value));
  proto.mutable_answer()->set_round(answer.released.receipt().round);
  proto.mutable_answer()->set_values(values.data(), values.size());
  put(answer.released.receipt(), *proto.mutable_answer()->mutable_receipt());
  return bytes_of(proto);
}

Bytes encode(const Envelope& envelope, const Refusal& refusal) {
  auto proto = with<v1::FromOwner>(envelope);
  proto.mutable_refusal()->set_code(to_proto(refusal.code));
  proto.mutable_refusal()->set_text(refusal.text);
  return bytes_of(proto);
}

Result<ToOwner> decode_to_owner(ByteView bytes) {
  const auto proto = TRY(parse<v1::ToOwner>(bytes));
  const Envelope envelope = TRY(envelope_of(proto));
  if (proto.has_query()) {
    const auto& theta = proto.query().theta();
    return ToOwner{envelope, ReceivedQuery{proto.query().round(), {theta.begin(), theta.end()}}};
  }
  if (proto.has_finished())
    return ToOwner{envelope, Finished{TRY(hash_of(proto.finished().model_sha256(), "model"))}};
  return malformed("of a kind an owner does not expect here");
}

Result<FromOwner> decode_from_owner(ByteView bytes) {
  const auto proto = TRY(parse<v1::FromOwner>(bytes));
  const Envelope envelope = TRY(envelope_of(proto));
  if (proto.has_answer()) return FromOwner{envelope, TRY(answer_of(proto.answer()))};
  if (proto.has_refusal())
    return FromOwner{envelope, Refusal{from_proto(proto.refusal().code()), proto.refusal().text()}};
  return malformed("of a kind a learner does not expect here");
}

}  // namespace parley::wire
