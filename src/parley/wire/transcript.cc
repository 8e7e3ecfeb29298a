#include "parley/wire/transcript.h"

#include <optional>
#include <utility>

#include "parley/wire/answer.h"
#include "proto/parley.pb.h"

namespace parley::wire {
namespace {

constexpr size_t kLengthBytes = 8;

template <class Proto>
Bytes with_length(const Proto& proto) {
  const size_t size = proto.ByteSizeLong();
  Bytes bytes;
  append_little_endian(bytes, size);
  bytes.resize(kLengthBytes + size);
  check(proto.SerializeToArray(&bytes[kLengthBytes], static_cast<int>(size)));
  return bytes;
}

/// The next piece and the place after it, unless it is cut off.
std::optional<ByteView> next_piece(ByteView bytes, size_t& at) {
  if (bytes.size() - at < kLengthBytes) return std::nullopt;
  const uint64_t size = read_little_endian(&bytes[at]);
  if (size == 0 || size > bytes.size() - at - kLengthBytes) return std::nullopt;
  const ByteView piece = bytes.subspan(at + kLengthBytes, size);
  at += kLengthBytes + size;
  return piece;
}

template <class Proto>
std::optional<Proto> parse_piece(ByteView piece) {
  Proto proto;
  if (piece.size() > kMessageBytesMax ||
      !proto.ParseFromArray(piece.data(), static_cast<int>(piece.size())))
    return std::nullopt;
  return proto;
}

Result<std::vector<OpenedMask>> masks_of(const v1::Sum& proto) {
  if (proto.mask_size() != proto.missing_size()) return malformed("masks of a sum without a sign");
  std::vector<OpenedMask> masks;
  for (int i = 0; i < proto.mask_size(); ++i) {
    const Secret32 seed = TRY(hash_of(proto.mask(i), "mask"));
    masks.push_back({seed, proto.missing(i)});
  }
  return masks;
}

Result<void> take(const v1::TranscriptEntry& proto, Transcript& transcript) {
  const size_t answers = transcript.entries.size();
  if (proto.has_asked()) {
    transcript.notes.push_back({Note::Kind::kAsked, proto.owner(), proto.asked().round(), answers});
  } else if (proto.has_closed()) {
    transcript.notes.push_back({Note::Kind::kClosed, proto.owner(), 0, answers});
  } else if (proto.has_begun()) {
    transcript.notes.push_back(
        {Note::Kind::kBegun, proto.owner(), proto.begun().attempt(), answers});
  } else if (proto.has_alarm()) {
    transcript.notes.push_back(
        {Note::Kind::kAlarm, proto.owner(), proto.alarm().go_on() ? 1u : 0u, answers});
  } else if (proto.has_sum()) {
    const std::string& values = proto.sum().values();
    if (values.size() % 8 != 0) return malformed("a sum is not whole numbers of 8 bytes");
    auto masks = TRY(masks_of(proto.sum()));
    transcript.notes.push_back({Note::Kind::kSum, proto.owner(), 0, answers,
                                values_of(as_bytes(values)), std::move(masks)});
  } else {
    ReceivedAnswer answer = TRY(answer_of(proto.answer()));
    transcript.entries.push_back({proto.owner(), std::move(answer)});
  }
  return {};
}

}  // namespace

Bytes transcript_head(const Hash& charter, const std::string& started) {
  v1::TranscriptHead head;
  head.set_version(kVersion);
  head.set_charter(charter.data(), charter.size());
  head.set_started(started);
  return with_length(head);
}

Bytes transcript_entry(const std::string& owner, const ReceivedAnswer& answer) {
  v1::TranscriptEntry entry;
  entry.set_owner(owner);
  put(answer.receipt, answer.signature, answer.values, *entry.mutable_answer());
  return with_length(entry);
}

Bytes transcript_note(const Note& note) {
  v1::TranscriptEntry entry;
  entry.set_owner(note.owner);
  switch (note.kind) {
    case Note::Kind::kAsked:
      entry.mutable_asked()->set_round(note.round);
      break;
    case Note::Kind::kClosed:
      entry.mutable_closed();
      break;
    case Note::Kind::kBegun:
      entry.mutable_begun()->set_attempt(note.round);
      break;
    case Note::Kind::kAlarm:
      entry.mutable_alarm()->set_go_on(note.round == 1);
      break;
    case Note::Kind::kSum: {
      const Bytes values = bytes_of(note.values);
      entry.mutable_sum()->set_values(values.data(), values.size());
      for (const OpenedMask& mask : note.masks) {
        entry.mutable_sum()->add_mask(mask.seed.data(), mask.seed.size());
        entry.mutable_sum()->add_missing(mask.missing);
      }
    }
  }
  return with_length(entry);
}

Result<Transcript> parse_transcript(ByteView bytes) {
  Transcript transcript;
  size_t at = 0;
  const auto first = next_piece(bytes, at);
  const auto head = first ? parse_piece<v1::TranscriptHead>(*first) : std::nullopt;
  if (!head || head->version() != kVersion)
    return Error{Code::kIntegrity, "is not a transcript of this version",
                 "Give the file that `parley learner run` wrote."};
  transcript.charter = TRY(hash_of(head->charter(), "charter"));
  transcript.started = plain(head->started());
  transcript.whole = at;
  while (const auto piece = next_piece(bytes, at)) {
    const auto proto = parse_piece<v1::TranscriptEntry>(*piece);
    if (!proto) return malformed("entry " + std::to_string(transcript.entries.size() + 1));
    TRY(take(*proto, transcript));
    transcript.whole = at;
  }
  return transcript;
}

}  // namespace parley::wire
