// The one message that both streams and transcripts hold.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "parley/wire/message.h"

namespace parley::v1 {
class Answer;
class Proof;
class Receipt;
}  // namespace parley::v1

namespace parley::wire {

/// Longest name of a party or a field that a peer may send.
inline constexpr size_t kNameBytesMax = 200;

/// As protobuf holds bytes.
inline std::string text_of(ByteView bytes) { return {bytes.begin(), bytes.end()}; }

Error malformed(const std::string& what);
Result<Hash> hash_of(const std::string& field, const char* name);
Result<Signature> plain_signature(const std::string& field, const char* name);

/// Fields of one size, one after the other, one of an owner each.
template <class Field>
Result<std::vector<Field>> fields_of(const std::string& bytes, const char* name) {
  constexpr size_t kSize = sizeof(Field);
  if (bytes.size() % kSize != 0 || bytes.size() / kSize > kMembersMax)
    return malformed(std::string(name) + " are not of " + std::to_string(kSize) + " bytes each");
  std::vector<Field> fields(bytes.size() / kSize);
  for (size_t i = 0; i < fields.size(); ++i)
    std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(i * kSize), kSize, fields[i].begin());
  return fields;
}

/// What is released; an empty name is an answer.
Result<privacy::ReleaseKind> kind_of(const std::string& field, const char* name);

/// Takes a receipt apart, checking the size of every field.
Result<privacy::Receipt> receipt_of(const v1::Receipt& proto);
Result<std::optional<Signature>> signature_of(const v1::Receipt& proto);
void put(const privacy::Receipt& receipt, const std::optional<Signature>& signature,
         v1::Receipt& out);

/// Takes an answer apart, checking the size of every field.
Result<ReceivedAnswer> answer_of(const v1::Answer& proto);
void put(const privacy::Receipt& receipt, const std::optional<Signature>& signature,
         std::span<const int64_t> values, v1::Answer& out);

/// A receipt that is shown again must be signed.
Result<Proof> proof_of(const v1::Proof& proto);
void put(const Proof& proof, v1::Proof& out);

}  // namespace parley::wire
