// No body of a request crashes whoever reads a form; nothing hides a NUL in it, and what is read is
// no longer than what came.
#include <string_view>

#include "parley/base/result.h"
#include "parley/net/web/http.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace parley;
  constexpr size_t kMost = 50;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const auto form = net::parse_form(body, kMost);
  if (!form) return 0;
  check(form->all().size() <= kMost);
  size_t bytes = 0;
  for (const auto& [name, value] : form->all()) {
    check((name + value).find('\0') == std::string::npos);
    check(form->get(name).has_value() && form->count(name) > 0);
    bytes += name.size() + value.size();
  }
  check(bytes <= size);
  return 0;
}
