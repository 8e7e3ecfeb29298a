// Whatever others say: what reaches a log or a terminal is one line of visible characters, says the
// same when it is made printable again, and ends where its quotes end.
#include "parley/base/bytes.h"
#include "parley/base/printable.h"
#include "parley/base/result.h"

namespace {

/// Bytes that no terminal obeys: no control, and none of those that UTF-8 writes as two.
void check_harmless(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    parley::check(byte >= 32 && byte != 127);
    const bool one_of_two = i > 0 && static_cast<unsigned char>(text[i - 1]) == 0xc2;
    parley::check(!(one_of_two && byte < 0xa0));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace parley;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string once = printable(text, size);
  check_harmless(once);
  check(printable(once, once.size()) == once);
  check(printable(text, 20).size() <= 20 * 6);
  const std::string quoted = in_quotes(text);
  check_harmless(quoted);
  check(quoted.size() >= 2 && quoted.front() == '"' && quoted.back() == '"');
  for (size_t i = 1; i + 1 < quoted.size(); ++i) {
    check(quoted[i] != '"');
    if (quoted[i] == '\\') ++i;
  }
  std::string lines = printable_lines(text);
  std::erase(lines, '\n');
  check_harmless(lines);
  return 0;
}
