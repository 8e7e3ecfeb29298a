// Frames of a driver's process, which is not trusted: none crashes the reader, no text lies outside
// its frame, and there are no more cells than bytes.
#include <string_view>

#include "parley/data/adbc/frames.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  using namespace parley;
  using data::Cell;
  const std::string_view bytes(reinterpret_cast<const char*>(input), size);
  auto frame = data::FrameReader::of(bytes);
  if (!frame) return check(size < 4), 0;
  size_t cells = 0;
  for (Cell cell; frame->next(cell); ++cells) {
    check(cells < size);
    if (cell.kind != Cell::Kind::kText || cell.text.empty()) continue;
    check(cell.text.data() >= bytes.data() &&
          cell.text.data() + cell.text.size() <= bytes.data() + size);
  }
  return 0;
}
