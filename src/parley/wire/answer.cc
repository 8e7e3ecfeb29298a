#include "parley/wire/answer.h"

#include <google/protobuf/stubs/logging.h>

#include <algorithm>

#include "proto/parley.pb.h"

namespace parley::wire {
namespace {

constexpr size_t kEventBytesMax = 1000;

/// Protobuf would write into a daemon's log whatever it dislikes in a stranger's bytes; the errors
/// made here say it once.
[[maybe_unused]] const auto protobuf_log = google::protobuf::SetLogHandler(nullptr);

template <size_t N>
std::string text_of(const std::array<uint8_t, N>& bytes) {
  return {bytes.begin(), bytes.end()};
}

Result<std::optional<Signature>> signature_of(const std::string& field) {
  Signature signature;
  if (field.empty()) return std::optional<Signature>();
  if (field.size() != signature.size()) return malformed("receipt.signature is not 64 bytes");
  std::copy(field.begin(), field.end(), signature.begin());
  return std::optional(signature);
}

}  // namespace

Error malformed(const std::string& what) {
  return {Code::kIntegrity, "malformed message: " + what,
          "The peer speaks another version, or lies."};
}

std::string plain(const std::string& text) {
  constexpr size_t kShown = 500;
  std::string result = text.substr(0, kShown);
  for (char& c : result)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return result;
}

Result<Hash> hash_of(const std::string& field, const char* name) {
  Hash hash;
  if (field.size() != hash.size()) return malformed(std::string(name) + " is not 32 bytes");
  std::copy(field.begin(), field.end(), hash.begin());
  return hash;
}

Result<ReceivedAnswer> answer_of(const v1::Answer& proto) {
  if (proto.values().size() % 8 != 0) return malformed("values are not whole numbers of 8 bytes");
  const v1::Receipt& receipt = proto.receipt();
  if (receipt.event().size() > kEventBytesMax) return malformed("receipt.event is too long");
  ReceivedAnswer answer{.round = proto.round(),
                        .values = values_of(as_bytes(proto.values())),
                        .receipt = {.round = receipt.round(),
                                    .event = receipt.event(),
                                    .epsilon_spent = receipt.epsilon_spent(),
                                    .delta_spent = receipt.delta_spent()}};
  answer.receipt.chain = TRY(hash_of(receipt.chain(), "receipt.chain"));
  answer.receipt.query = TRY(hash_of(receipt.query(), "receipt.query"));
  answer.receipt.answer = TRY(hash_of(receipt.answer(), "receipt.answer"));
  answer.receipt.job = TRY(hash_of(receipt.job(), "receipt.job"));
  answer.signature = TRY(signature_of(receipt.signature()));
  return answer;
}

void put(const privacy::Receipt& receipt, const std::optional<Signature>& signature,
         std::span<const int64_t> values, v1::Answer& out) {
  const Bytes bytes = bytes_of(values);
  out.set_round(receipt.round);
  out.set_values(bytes.data(), bytes.size());
  v1::Receipt& proto = *out.mutable_receipt();
  proto.set_round(receipt.round);
  proto.set_event(receipt.event);
  proto.set_epsilon_spent(receipt.epsilon_spent);
  proto.set_delta_spent(receipt.delta_spent);
  proto.set_chain(text_of(receipt.chain));
  proto.set_query(text_of(receipt.query));
  proto.set_answer(text_of(receipt.answer));
  proto.set_job(text_of(receipt.job));
  if (signature) proto.set_signature(text_of(*signature));
}

Bytes signed_bytes(const Hash& charter, std::string_view owner, const privacy::Receipt& receipt) {
  TupleBytes tuple;
  tuple.add(charter).add(owner).add(uint64_t{receipt.round}).add(receipt.event);
  tuple.add(receipt.epsilon_spent).add(receipt.delta_spent);
  tuple.add(receipt.chain).add(receipt.query).add(receipt.answer);
  return tuple.add(receipt.job).bytes();
}

}  // namespace parley::wire
