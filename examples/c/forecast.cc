// The C interface from C++, through the shared library: what a job would be worth, with progress,
// for programs that cannot link the static library.
//
//   c_forecast examples/three-banks.charter.toml
#include <parley/c.h>

#include <iostream>
#include <memory>
#include <string>

namespace {

using Text = std::unique_ptr<char, decltype(&parley_free)>;

int show_progress(void*, uint64_t done, uint64_t total) {
  std::cerr << "\r" << done << " of " << total;
  return 0;  // Anything else stops the call.
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::cerr << "usage: c_forecast CHARTER\n", PARLEY_INVALID;
  const std::string arguments =
      "{\"charter_file\": \"" + std::string(argv[1]) + "\", \"standin\": \"lending\"}";
  const parley_hooks hooks{sizeof(parley_hooks), nullptr, show_progress};
  char* json = nullptr;
  const int status = parley_call("forecast", arguments.c_str(), nullptr, &hooks, &json);
  const Text said(json, parley_free);
  std::cout << said.get() << "\n";
  return status;
}
