#include "parley/net/transport/frame.h"

#include <algorithm>

#include "parley/base/printable.h"
#include "parley/wire/answer.h"

namespace parley::net {
namespace {

constexpr size_t kWordsMax = 500;  // of a what or of a hint: two of them fit into kEndBytesMax

ByteView cut(const std::string& text) {
  return as_bytes(std::string_view(text).substr(0, kWordsMax));
}

}  // namespace

Bytes to_frame(FrameKind kind, ByteView payload) {
  Bytes frame;
  frame.reserve(kFrameHead + payload.size());
  frame.push_back(static_cast<uint8_t>(kind));
  for (int shift = 0; shift < 32; shift += 8)
    frame.push_back(static_cast<uint8_t>(payload.size() >> shift));
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

Bytes encode_end(const Error& error) {
  const ByteView what = cut(error.what), hint = cut(error.hint);
  Bytes payload{static_cast<uint8_t>(error.code), static_cast<uint8_t>(what.size()),
                static_cast<uint8_t>(what.size() >> 8)};
  payload.insert(payload.end(), what.begin(), what.end());
  payload.insert(payload.end(), hint.begin(), hint.end());
  return payload;
}

Error decode_end(ByteView payload) {
  if (payload.size() < 3 || payload[0] > static_cast<uint8_t>(Code::kFailed))
    return {Code::kUnavailable, "ended the stream for a reason that cannot be read"};
  const size_t size = payload[1] + (size_t{payload[2]} << 8);
  const ByteView words = payload.subspan(3);
  const size_t what = std::min(size, words.size());
  return {.code = static_cast<Code>(payload[0]),
          .what = printable(wire::text_of(words.first(what))),
          .hint = printable(wire::text_of(words.subspan(what)))};
}

size_t FrameReader::longest_of(FrameKind kind) const {
  switch (kind) {
    case FrameKind::kMessage:
      return longest_;
    case FrameKind::kOpen:
      return kCallBytesMax;
    case FrameKind::kEnd:
      return kEndBytesMax;
    default:
      return 0;
  }
}

Result<void> FrameReader::read_head() {
  kind_ = static_cast<FrameKind>(head_[0]);
  if (kind_ < FrameKind::kReady || kind_ > FrameKind::kEnd)
    return Error{Code::kIntegrity,
                 "sent something that is no message of " + std::string(kProtocol)};
  length_ = 0;
  for (size_t i = kFrameHead; i-- > 1;) length_ = length_ << 8 | head_[i];
  const size_t longest = longest_of(kind_);
  if (length_ <= longest) return {};
  return Error{Code::kIntegrity, "sent a message of " + std::to_string(length_) +
                                     " bytes, where the longest that can be due has " +
                                     std::to_string(longest)};
}

std::span<uint8_t> FrameReader::room() {
  if (!head_done_) return std::span(head_).subspan(filled_);
  if (payload_.empty()) payload_.resize(length_);
  return std::span(payload_).subspan(filled_);
}

Result<std::optional<Frame>> FrameReader::take(size_t count) {
  filled_ += count;
  if (!head_done_) {
    if (filled_ < kFrameHead) return std::optional<Frame>();
    TRY(read_head());
    head_done_ = true, filled_ = 0;
    return std::optional<Frame>();
  }
  if (filled_ < length_) return std::optional<Frame>();
  head_done_ = false, filled_ = 0;
  return std::optional(Frame{kind_, std::exchange(payload_, {})});
}

}  // namespace parley::net
