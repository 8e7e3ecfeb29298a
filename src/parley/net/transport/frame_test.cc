#include "parley/net/transport/frame.h"

#include <gtest/gtest.h>

namespace parley::net {
namespace frame_test {

/// Feeds the bytes in pieces of this size.
Result<std::vector<Frame>> frames_in(const Bytes& bytes, size_t piece, size_t longest = 1000) {
  FrameReader reader(longest);
  std::vector<Frame> frames;
  for (size_t at = 0;;) {
    const auto room = reader.room();
    const size_t count = std::min({room.size(), piece, bytes.size() - at});
    if (count == 0 && !room.empty()) return frames;
    std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(at), count, room.begin());
    at += count;
    auto frame = TRY(reader.take(count));
    if (frame) frames.push_back(*std::move(frame));
  }
}

Bytes several() {
  Bytes bytes;
  for (const auto& [kind, size] : {std::pair{FrameKind::kReady, 0},
                                   {FrameKind::kMessage, 0},
                                   {FrameKind::kMessage, 300},
                                   {FrameKind::kAlive, 0},
                                   {FrameKind::kMessage, 1000},
                                   {FrameKind::kEnd, 5}}) {
    const Bytes frame = to_frame(kind, Bytes(static_cast<size_t>(size), 7));
    bytes.insert(bytes.end(), frame.begin(), frame.end());
  }
  return bytes;
}

TEST(Frame, IsReadWhateverThePiecesItComesIn) {
  for (size_t piece = 1; piece < 1100; piece += piece < 10 ? 1 : 97) {
    const auto frames = frames_in(several(), piece);
    ASSERT_TRUE(frames);
    ASSERT_EQ(frames->size(), 6u);
    EXPECT_EQ((*frames)[2].payload, Bytes(300, 7));
    Bytes again;
    for (const Frame& frame : *frames) {
      const Bytes bytes = to_frame(frame.kind, frame.payload);
      again.insert(again.end(), bytes.begin(), bytes.end());
    }
    EXPECT_EQ(again, several());
  }
}

TEST(Frame, ThatIsTooLongIsRefusedAtItsHead) {
  for (const uint8_t kind : {1, 2, 3, 4, 5}) {
    const auto frames = frames_in({kind, 0xff, 0xff, 0xff, 0xff}, 5);
    ASSERT_FALSE(frames);
    EXPECT_NE(frames.error().what.find("sent a message of 4294967295 bytes"), std::string::npos);
  }
  EXPECT_FALSE(frames_in(to_frame(FrameKind::kMessage, Bytes(1001)), 2000));
  EXPECT_FALSE(frames_in({0, 0, 0, 0, 0}, 5));
  EXPECT_FALSE(frames_in({6, 0, 0, 0, 0}, 5));
}

TEST(Frame, CarriesAnErrorWhoseTextIsCutAndPlain) {
  for (const Code code : {Code::kInvalid, Code::kPolicy, Code::kUnavailable, Code::kFailed}) {
    const Error told = decode_end(encode_end({code, "what\n", "hint"}));
    EXPECT_EQ(told.code, code);
    EXPECT_EQ(told.what, "what\\u000a");
    EXPECT_EQ(told.hint, "hint");
  }
  const Error hostile = decode_end(encode_end({Code::kFailed, "\x9b[2J\xff", "\xe2\x80\xae"}));
  EXPECT_EQ(hostile.what, "\\x9b[2J\\xff") << "a terminal of 8 bits would obey it";
  EXPECT_EQ(hostile.hint, "\\u202e");
  const Bytes longest = encode_end({Code::kFailed, std::string(9999, 'w'), std::string(9999, 'h')});
  EXPECT_LE(longest.size(), kEndBytesMax);
  EXPECT_EQ(decode_end(longest).what, std::string(500, 'w'));
  for (const Bytes& broken : {Bytes{}, Bytes{9, 0, 0}, Bytes{1}})
    EXPECT_EQ(decode_end(broken).code, Code::kUnavailable);
  EXPECT_EQ(decode_end(Bytes{1, 255, 255, 'a'}).what, "a");
}

}  // namespace frame_test
}  // namespace parley::net
