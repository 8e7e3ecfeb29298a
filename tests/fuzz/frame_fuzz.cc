// Whatever bytes come in whatever pieces: frames are read as they were written, none is longer than
// it may be, and a reason that ends a stream can be shown to people.
#include <algorithm>

#include "parley/net/transport/frame.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace parley;
  using namespace parley::net;
  if (size < 2) return 0;
  const size_t longest = size_t{data[0]} * 16, piece = 1 + data[1] % 64;
  const ByteView bytes(data + 2, size - 2);
  FrameReader reader(longest);
  Bytes again;
  for (size_t at = 0;;) {
    const auto room = reader.room();
    check(room.size() <= std::max({longest, kEndBytesMax, kCallBytesMax}));
    const size_t count = std::min({room.size(), piece, bytes.size() - at});
    if (count == 0 && !room.empty()) break;
    std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(at), count, room.begin());
    at += count;
    const auto frame = reader.take(count);
    if (!frame) break;
    if (!*frame) continue;
    if ((*frame)->kind == FrameKind::kEnd) {
      const Error told = decode_end((*frame)->payload);
      for (const char c : told.what + told.hint)
        check(static_cast<unsigned char>(c) >= 32 && c != 127);
    }
    const Bytes written = to_frame((*frame)->kind, (*frame)->payload);
    again.insert(again.end(), written.begin(), written.end());
    check(again.size() == at && std::equal(again.begin(), again.end(), bytes.begin()));
  }
  return 0;
}
