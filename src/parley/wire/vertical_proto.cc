#include "parley/wire/vertical_proto.h"

#include <algorithm>

#include "parley/base/printable.h"
#include "parley/wire/answer.h"
#include "proto/parley.pb.h"

namespace parley::wire {
namespace {

constexpr int kPartiesMax = 1000;

Result<std::string> name_of(const std::string& field, const char* what) {
  if (field.size() > kNameBytesMax) return malformed(std::string(what) + " is too long");
  return printable(field);
}

Result<std::optional<Signature>> signature_in(const std::string& field) {
  Signature signature;
  if (field.empty()) return std::optional<Signature>();
  if (field.size() != signature.size()) return malformed("agreement_signature is not 64 bytes");
  std::copy(field.begin(), field.end(), signature.begin());
  return std::optional(signature);
}

}  // namespace

Bytes signed_key(const Hash& charter, std::string_view owner, const Hash& key) {
  return TupleBytes().add("parley agreement key").add(charter).add(owner).add(key).bytes();
}

/// wire:: since another file has a limit of the same name.
std::vector<IdTokens> in_pieces(uint32_t session, ByteView tokens) {
  static_assert(wire::kPieceBytesMax % kTokenBytes == 0);
  const size_t parts =
      std::max<size_t>(1, (tokens.size() + wire::kPieceBytesMax - 1) / wire::kPieceBytesMax);
  check(parts <= kPiecesMax);
  std::vector<IdTokens> pieces;
  for (size_t part = 0; part < parts; ++part) {
    const size_t at = part * wire::kPieceBytesMax;
    const ByteView piece = tokens.subspan(at, std::min(wire::kPieceBytesMax, tokens.size() - at));
    pieces.push_back({session,
                      static_cast<uint32_t>(part),
                      static_cast<uint32_t>(parts),
                      {piece.begin(), piece.end()}});
  }
  return pieces;
}

void put(const VerticalHello& hello, v1::Hello& out) {
  out.set_data_digest(text_of(hello.records));
  out.set_columns_digest(text_of(hello.columns));
  out.set_agreement_key(text_of(hello.key));
  if (hello.signature) out.set_agreement_signature(text_of(*hello.signature));
  out.set_opened(hello.opened);
  out.set_session(hello.session);
}

void put(const Sealed& sealed, v1::Sealed& out) {
  const LetterHead& head = sealed.head();
  out.set_to(head.to);
  out.set_from(head.from);
  out.set_session(head.session);
  out.set_round(head.round);
  out.set_part(head.part);
  out.set_parts(head.parts);
  out.set_nonce(text_of(sealed.nonce()));
  out.set_box(sealed.box().data(), sealed.box().size());
}

void put(const Session& session, v1::Session& out) {
  out.set_session(session.session);
  out.set_first_round(session.first_round);
  for (const Peer& peer : session.peers) {
    v1::Peer& each = *out.add_peer();
    each.set_owner(peer.owner);
    each.set_agreement_key(text_of(peer.key));
    if (peer.signature) each.set_agreement_signature(text_of(*peer.signature));
  }
}

void put(const DealerShare& share, v1::DealerShare& out) {
  out.set_session(share.session);
  out.set_round(share.round);
  out.set_seed(text_of(share.seed));
  Bytes words;
  for (const uint64_t word : share.correction) append_little_endian(words, word);
  out.set_correction(words.data(), words.size());
}

void put(const ModelPart& part, v1::ModelPart& out) {
  out.set_owner(part.owner);
  out.set_sha256(text_of(part.sha256));
  out.set_session(part.session);
}

void put(const IdTokens& tokens, v1::IdTokens& out) {
  out.set_session(tokens.session);
  out.set_part(tokens.part);
  out.set_parts(tokens.parts);
  out.set_tokens(tokens.tokens.data(), tokens.tokens.size());
}

Result<std::optional<VerticalHello>> vertical_hello_of(const v1::Hello& proto) {
  if (proto.data_digest().empty()) return std::optional<VerticalHello>();
  VerticalHello hello{.opened = proto.opened(), .session = proto.session()};
  hello.records = TRY(hash_of(proto.data_digest(), "data_digest"));
  hello.columns = TRY(hash_of(proto.columns_digest(), "columns_digest"));
  hello.key = TRY(hash_of(proto.agreement_key(), "agreement_key"));
  hello.signature = TRY(signature_in(proto.agreement_signature()));
  return std::optional(hello);
}

Result<Sealed> sealed_of(const v1::Sealed& proto) {
  LetterHead head{.session = proto.session(),
                  .round = proto.round(),
                  .part = proto.part(),
                  .parts = proto.parts()};
  head.to = TRY(name_of(proto.to(), "sealed.to"));
  head.from = TRY(name_of(proto.from(), "sealed.from"));
  return Sealed::received(std::move(head), as_bytes(proto.nonce()), as_bytes(proto.box()));
}

Result<Session> session_of(const v1::Session& proto) {
  if (proto.peer_size() > kPartiesMax) return malformed("too many peers");
  Session session{proto.session(), proto.first_round(), {}};
  for (const v1::Peer& each : proto.peer()) {
    Peer peer;
    peer.owner = TRY(name_of(each.owner(), "peer.owner"));
    peer.key = TRY(hash_of(each.agreement_key(), "peer.agreement_key"));
    peer.signature = TRY(signature_in(each.agreement_signature()));
    session.peers.push_back(std::move(peer));
  }
  return session;
}

Result<DealerShare> dealer_share_of(const v1::DealerShare& proto) {
  if (proto.correction().size() % 8 != 0)
    return malformed("dealer.correction is not whole words of 8 bytes");
  DealerShare share{.session = proto.session(), .round = proto.round()};
  share.seed = TRY(hash_of(proto.seed(), "dealer.seed"));
  const ByteView words = as_bytes(proto.correction());
  for (size_t i = 0; i < words.size(); i += 8)
    share.correction.push_back(read_little_endian(words.data() + i));
  return share;
}

Result<ModelPart> model_part_of(const v1::ModelPart& proto) {
  ModelPart part{.session = proto.session()};
  part.owner = TRY(name_of(proto.owner(), "part.owner"));
  part.sha256 = TRY(hash_of(proto.sha256(), "part.sha256"));
  return part;
}

Result<IdTokens> id_tokens_of(const v1::IdTokens& proto) {
  const ByteView tokens = as_bytes(proto.tokens());
  if (tokens.size() % kTokenBytes != 0 || tokens.size() > wire::kPieceBytesMax)
    return malformed("tokens are not whole, or more than a piece holds");
  if (proto.part() >= proto.parts() || proto.parts() > kPiecesMax)
    return malformed("a piece of tokens that is none");
  return IdTokens{proto.session(), proto.part(), proto.parts(), {tokens.begin(), tokens.end()}};
}

Result<std::vector<ModelPart>> model_parts_of(const v1::Finished& proto) {
  if (proto.part_size() > kPartiesMax) return malformed("too many parts");
  std::vector<ModelPart> parts;
  for (const v1::ModelPart& each : proto.part()) parts.push_back(TRY(model_part_of(each)));
  return parts;
}

}  // namespace parley::wire
