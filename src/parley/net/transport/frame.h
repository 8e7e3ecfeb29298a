// Frames inside TLS: a kind, a length and as many bytes. A length that is not allowed is refused
// before memory is allocated for it. Nothing is compressed.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "parley/base/bytes.h"
#include "parley/base/result.h"

namespace parley::net {

/// Both sides offer this in the handshake (ALPN); whoever does not is of another version.
inline constexpr std::string_view kProtocol = "parley/2";

enum class FrameKind : uint8_t {
  kReady = 1,    // learner: your certificate is accepted
  kOpen = 2,     // owner: the name of the call, once
  kMessage = 3,  // both
  kAlive = 4,    // both, after silence
  kEnd = 5,      // learner: why the stream ends
};

struct Frame {
  FrameKind kind{};
  Bytes payload{};
};

inline constexpr size_t kFrameHead = 5;       // kind, and the length in 4 bytes, little-endian
inline constexpr size_t kEndBytesMax = 1024;  // of an error; a longer text is cut
inline constexpr size_t kCallBytesMax = 64;

Bytes to_frame(FrameKind kind, ByteView payload = {});

/// An error as the payload of kEnd, and back, as plain text.
Bytes encode_end(const Error& error);
Error decode_end(ByteView payload);

/// Takes frames apart, in pieces of any size.
class FrameReader {
 public:
  /// Messages are at most so long.
  explicit FrameReader(size_t longest) : longest_(longest) {}

  /// Where the next bytes belong; empty where a frame has no payload, and then take(0) gives it.
  /// Takes memory for a payload only when it is called.
  std::span<uint8_t> room();
  /// So many bytes are there now: a frame if it is whole, an error if there is no such frame.
  Result<std::optional<Frame>> take(size_t count);

  /// The head of a message is there, and nothing of the rest.
  bool holds_message() const {
    return head_done_ && kind_ == FrameKind::kMessage && payload_.empty();
  }

 private:
  Result<void> read_head();
  size_t longest_of(FrameKind kind) const;

  size_t longest_;
  uint8_t head_[kFrameHead] = {};
  size_t filled_ = 0;  // of the head, or of the payload
  bool head_done_ = false;
  FrameKind kind_{};
  uint32_t length_ = 0;
  Bytes payload_{};
};

}  // namespace parley::net
