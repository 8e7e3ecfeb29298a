#include "parley/wire/transcript.h"

#include <optional>
#include <utility>

#include "parley/base/printable.h"
#include "parley/wire/answer.h"
#include "proto/parley.pb.h"

namespace parley::wire {
namespace {

constexpr size_t kLengthBytes = 8;
constexpr size_t kPieceBytesMax = 4 * kMessageBytesMax;  // Sums with their masks are the longest.

template <class Proto>
Bytes with_length(const Proto& proto) {
  const size_t size = proto.ByteSizeLong();
  Bytes bytes;
  append_little_endian(bytes, size);
  bytes.resize(kLengthBytes + size);
  check(proto.SerializeToArray(&bytes[kLengthBytes], static_cast<int>(size)));
  return bytes;
}

/// How long the piece at `at` says it is; nothing if that is cut off.
std::optional<uint64_t> length_at(ByteView bytes, size_t at) {
  if (bytes.size() - at < kLengthBytes) return std::nullopt;
  return read_little_endian(&bytes[at]);
}

/// There is no such piece: the file was torn here, or it is none of ours.
bool is_no_length(uint64_t size) { return size == 0 || size > kPieceBytesMax; }

/// The next piece and the place after it, unless it is cut off.
std::optional<ByteView> next_piece(ByteView bytes, size_t& at) {
  const auto size = length_at(bytes, at);
  if (!size || is_no_length(*size) || *size > bytes.size() - at - kLengthBytes) return std::nullopt;
  const ByteView piece = bytes.subspan(at + kLengthBytes, *size);
  at += kLengthBytes + *size;
  return piece;
}

template <class Proto>
std::optional<Proto> parse_piece(ByteView piece) {
  Proto proto;
  if (!proto.ParseFromArray(piece.data(), static_cast<int>(piece.size()))) return std::nullopt;
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

/// An entry, or a note.
Result<void> take(const v1::TranscriptEntry& proto, size_t& answers,
                  const TranscriptReader::OnEntry& on_entry,
                  const TranscriptReader::OnNote& on_note) {
  using enum Note::Kind;
  if (proto.has_asked()) return on_note({kAsked, proto.owner(), proto.asked().round(), answers});
  if (proto.has_closed()) return on_note({kClosed, proto.owner(), 0, answers});
  if (proto.has_begun()) return on_note({kBegun, proto.owner(), proto.begun().attempt(), answers});
  if (proto.has_alarm())
    return on_note({kAlarm, proto.owner(), proto.alarm().go_on() ? 1u : 0u, answers});
  if (proto.has_approved()) {
    Note note{.kind = kApproved, .owner = proto.owner(), .answers = answers};
    note.approval = TRY(plain_signature(proto.approved().signature(), "approved.signature"));
    return on_note(std::move(note));
  }
  if (proto.has_sum()) {
    const std::string& values = proto.sum().values();
    if (values.size() % 8 != 0) return malformed("a sum is not whole numbers of 8 bytes");
    auto masks = TRY(masks_of(proto.sum()));
    return on_note(
        {kSum, proto.owner(), 0, answers, values_of(as_bytes(values)), std::move(masks)});
  }
  ReceivedAnswer answer = TRY(answer_of(proto.answer()));
  ++answers;
  return on_entry({proto.owner(), std::move(answer)});
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
    case Note::Kind::kApproved:
      entry.mutable_approved()->set_signature(text_of(note.approval.value_or(Signature{})));
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

Result<std::optional<TranscriptHead>> read_head(ByteView bytes) {
  const Error none{Code::kIntegrity, "is no journal or transcript",
                   "Give the file that `parley learner run` wrote."};
  size_t at = 0;
  const auto size = length_at(bytes, at);
  if (!size) return std::optional<TranscriptHead>();
  constexpr uint64_t kLongest = 4096;  // It has two short fields.
  if (*size == 0 || *size > kLongest) return none;
  const auto piece = next_piece(bytes, at);
  if (!piece) return std::optional<TranscriptHead>();
  const auto proto = parse_piece<v1::TranscriptHead>(*piece);
  if (!proto || proto->version() < 1 || proto->charter().size() != Hash{}.size()) return none;
  if (proto->version() > kVersion)
    return Error{Code::kIntegrity,
                 "is of version " + std::to_string(proto->version()) +
                     "; this program knows versions up to " + std::to_string(kVersion),
                 "Use the version of Parley that wrote it, or a newer one."};
  const Hash charter = TRY(hash_of(proto->charter(), "charter"));
  return std::optional(TranscriptHead{charter, printable(proto->started()), at});
}

Result<void> TranscriptReader::take(ByteView bytes) {
  if (torn_) return {};
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  size_t at = 0;
  if (!head_) {
    head_ = TRY(read_head(pending_));
    if (!head_) return {};
    at = head_->size;
    whole_ += at;
  }
  TRY(take_pieces(at));
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(at));
  const auto next = length_at(pending_, 0);
  torn_ = next && is_no_length(*next);
  return {};
}

Result<void> TranscriptReader::take_pieces(size_t& at) {
  for (size_t before = at; const auto piece = next_piece(pending_, at); before = at) {
    const auto proto = parse_piece<v1::TranscriptEntry>(*piece);
    if (!proto) return malformed("entry " + std::to_string(entries_ + 1));
    TRY(wire::take(*proto, entries_, on_entry_, on_note_));
    whole_ += at - before;
  }
  return {};
}

Result<Transcript> collect_transcript(const std::function<Result<void>(TranscriptReader&)>& feed) {
  Transcript transcript;
  TranscriptReader reader(
      [&](Entry entry) { return transcript.entries.push_back(std::move(entry)), Result<void>(); },
      [&](Note note) { return transcript.notes.push_back(std::move(note)), Result<void>(); });
  TRY(feed(reader));
  if (!reader.head())
    return Error{Code::kIntegrity, "is not a transcript of this version",
                 "Give the file that `parley learner run` wrote."};
  transcript.charter = reader.head()->charter;
  transcript.started = reader.head()->started;
  transcript.whole = reader.whole();
  return transcript;
}

Result<Transcript> parse_transcript(ByteView bytes) {
  return collect_transcript([&](TranscriptReader& reader) { return reader.take(bytes); });
}

}  // namespace parley::wire
