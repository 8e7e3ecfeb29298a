#include "parley/wire/aggregation.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "parley/base/printable.h"
#include "parley/wire/aggregation_parts.h"
#include "parley/wire/answer.h"
#include "proto/parley.pb.h"

namespace parley::wire {
namespace {

constexpr size_t kShareBytes = 1 + 32;

void put(const MemberKeys& keys, v1::Keys& out) {
  out.set_owner(keys.owner);
  out.set_c_pk(text_of(keys.seal_key));
  out.set_s_pk(text_of(keys.mask_key));
  if (keys.commitment) out.set_commitment(text_of(*keys.commitment));
  out.set_signature(text_of(keys.signature));
}
void put(const SealedShareList& list, v1::Shares& out) {
  for (const SealedShareList::Share& each : list.shares) {
    v1::Sealed& share = *out.add_share();
    share.set_from(each.from);
    share.set_to(each.to);
    share.set_box(each.box.data(), each.box.size());
  }
}
void put(const MemberConsent& consent, v1::Consent& out) {
  out.set_owner(consent.owner);
  out.set_signature(text_of(consent.signature));
}
void put(const OpenedShareList& list, v1::Unmask& out) {
  for (const OpenedShareList::Share& each : list.shares) {
    std::string bytes(1, static_cast<char>(each.share.x));
    bytes.append(each.share.y.begin(), each.share.y.end());
    out.add_owner(each.owner);
    out.add_share(bytes);
    out.add_of_key(each.of_key);
  }
}

// What a step is called in the envelope.
void place(const MemberKeys& keys, v1::Aggregation& out) { put(keys, *out.mutable_keys()); }
void place(const CommitmentsHash& all, v1::Aggregation& out) {
  out.mutable_commitments()->set_sha256(text_of(all.sha256));
}
void place(const RevealedNumber& reveal, v1::Aggregation& out) {
  out.mutable_reveal()->set_number(text_of(reveal.number));
}
void place(const SealedShareList& list, v1::Aggregation& out) { put(list, *out.mutable_shares()); }
void place(const MemberConsent& each, v1::Aggregation& out) { put(each, *out.mutable_consent()); }
void place(const OpenedShareList& list, v1::Aggregation& out) { put(list, *out.mutable_unmask()); }
void place(const NeighbourKeyList& list, v1::Aggregation& out) {
  v1::Keys& keys = *out.mutable_keys();
  keys.set_everyones(text_of(list.everyones));
  keys.set_present(list.present.data(), list.present.size());
  for (const Hash& number : list.numbers) keys.mutable_numbers()->append(text_of(number));
  for (const MemberKeys& each : list.neighbours) put(each, *keys.add_neighbours());
}
void place(const SurvivorList& list, v1::Aggregation& out) {
  v1::Survivors& survivors = *out.mutable_survivors();
  survivors.set_present(list.present.data(), list.present.size());
  for (const Signature& each : list.signatures)
    survivors.mutable_signatures()->append(text_of(each));
}

template <class Message>
void put_step(const Message& message, v1::Aggregation& out) {
  out.set_round(message.attempt);
  std::visit([&](const auto& step) { place(step, out); }, message.step);
}

Result<void> at_most(int found, size_t most, const char* what) {
  if (static_cast<size_t>(found) <= most) return {};
  return malformed(std::string("too many ") + what);
}

Result<std::string> name_of(const std::string& field) {
  if (field.empty() || field.size() > kNameBytesMax) return malformed("a name is not one");
  return printable(field);
}

/// A bit for each owner, and as many ones as fields that follow, if any do.
Result<Bytes> present_of(const std::string& bits, size_t fields) {
  if (bits.size() > kMembersMax / 8) return malformed("too many owners");
  size_t ones = 0;
  for (const char byte : bits) ones += static_cast<size_t>(std::popcount(uint8_t(byte)));
  if (fields > 0 && ones != fields) return malformed("not as many owners as are spoken of");
  return Bytes(bits.begin(), bits.end());
}

Result<MemberKeys> keys_of(const v1::Keys& proto) {
  MemberKeys keys;
  keys.owner = TRY(name_of(proto.owner()));
  keys.seal_key = TRY(hash_of(proto.c_pk(), "c_pk"));
  keys.mask_key = TRY(hash_of(proto.s_pk(), "s_pk"));
  if (!proto.commitment().empty()) keys.commitment = TRY(hash_of(proto.commitment(), "commitment"));
  keys.signature = TRY(plain_signature(proto.signature(), "a signature"));
  return keys;
}

Result<NeighbourKeyList> neighbours_of(const v1::Keys& proto) {
  TRY(at_most(proto.neighbours_size(), kNeighboursMax, "neighbours"));
  NeighbourKeyList list;
  list.everyones = TRY(hash_of(proto.everyones(), "everyones"));
  list.numbers = TRY(fields_of<Hash>(proto.numbers(), "numbers of the graph"));
  list.present = TRY(present_of(proto.present(), list.numbers.size()));
  for (const v1::Keys& each : proto.neighbours()) list.neighbours.push_back(TRY(keys_of(each)));
  return list;
}

Result<SealedShareList> shares_of(const v1::Shares& proto) {
  TRY(at_most(proto.share_size(), kNeighboursMax, "shares"));
  SealedShareList list;
  for (const v1::Sealed& each : proto.share()) {
    if (each.box().size() != kSealedShareBytes) return malformed("a sealed share is not 82 bytes");
    SealedShareList::Share share{.box = {each.box().begin(), each.box().end()}};
    if (each.from().empty() == each.to().empty()) return malformed("a share names one neighbour");
    if (each.to().empty()) share.from = TRY(name_of(each.from()));
    if (each.from().empty()) share.to = TRY(name_of(each.to()));
    list.shares.push_back(std::move(share));
  }
  return list;
}

Result<MemberConsent> consent_of(const v1::Consent& proto) {
  MemberConsent consent;
  consent.owner = TRY(name_of(proto.owner()));
  consent.signature = TRY(plain_signature(proto.signature(), "a signature"));
  return consent;
}

Result<SurvivorList> survivors_of(const v1::Survivors& proto) {
  SurvivorList list;
  list.signatures = TRY(fields_of<Signature>(proto.signatures(), "signatures"));
  list.present = TRY(present_of(proto.present(), list.signatures.size()));
  return list;
}

Result<OpenedShareList> opened_of(const v1::Unmask& proto) {
  TRY(at_most(proto.owner_size(), kNeighboursMax, "opened shares"));
  if (proto.share_size() != proto.owner_size() || proto.of_key_size() != proto.owner_size())
    return malformed("opened shares are not of as many owners");
  OpenedShareList list;
  for (int i = 0; i < proto.owner_size(); ++i) {
    const std::string& bytes = proto.share(i);
    if (bytes.size() != kShareBytes) return malformed("an opened share is not 33 bytes");
    OpenedShareList::Share opened{.of_key = proto.of_key(i),
                                  .share = {.x = static_cast<uint8_t>(bytes[0])}};
    opened.owner = TRY(name_of(proto.owner(i)));
    std::copy(bytes.begin() + 1, bytes.end(), opened.share.y.begin());
    list.shares.push_back(std::move(opened));
  }
  return list;
}

Result<ReceivedAnswer> masked_of(const v1::MaskedVector& proto) {
  if (proto.values().size() % 8 != 0) return malformed("values are not whole numbers of 8 bytes");
  ReceivedAnswer answer{.round = proto.receipt().round(),
                        .values = values_of(as_bytes(proto.values())),
                        .receipt = {}};
  answer.receipt = TRY(receipt_of(proto.receipt()));
  answer.signature = TRY(signature_of(proto.receipt()));
  return answer;
}

}  // namespace

void put(const FromMember& message, v1::Aggregation& out) { put_step(message, out); }
void put(const ToMember& message, v1::Aggregation& out) { put_step(message, out); }
void put(const MaskedPart& part, v1::Aggregation& out) {
  const Bytes values = bytes_of(part.masked.values());
  out.set_round(part.attempt);
  out.mutable_masked()->set_values(values.data(), values.size());
  put(part.masked.receipt(), part.signature, *out.mutable_masked()->mutable_receipt());
}

Result<ToMember> to_member_of(const v1::Aggregation& proto) {
  ToMember message{proto.round(), NeighbourKeyList{}};
  if (proto.has_commitments())
    message.step = CommitmentsHash{TRY(hash_of(proto.commitments().sha256(), "sha256"))};
  else if (proto.has_keys())
    message.step = TRY(neighbours_of(proto.keys()));
  else if (proto.has_shares())
    message.step = TRY(shares_of(proto.shares()));
  else if (proto.has_survivors())
    message.step = TRY(survivors_of(proto.survivors()));
  else
    return malformed("a step of secure aggregation that an owner does not expect");
  return message;
}

Result<ReceivedFromMember> from_member_of(const v1::Aggregation& proto) {
  ReceivedFromMember message{proto.round(), MemberKeys{}};
  if (proto.has_keys())
    message.step = TRY(keys_of(proto.keys()));
  else if (proto.has_reveal())
    message.step = RevealedNumber{TRY(hash_of(proto.reveal().number(), "number"))};
  else if (proto.has_shares())
    message.step = TRY(shares_of(proto.shares()));
  else if (proto.has_masked())
    message.step = TRY(masked_of(proto.masked()));
  else if (proto.has_consent())
    message.step = TRY(consent_of(proto.consent()));
  else if (proto.has_unmask())
    message.step = TRY(opened_of(proto.unmask()));
  else
    return malformed("a step of secure aggregation that a learner does not expect");
  return message;
}

}  // namespace parley::wire
