// Uses the installed headers and library the way an outside program would.
#include <parley/c.h>
#include <parley/parley.h>

#include <cstdio>

namespace {

parley::Result<double> half_of_epsilon() {
  const parley::Events once = {{parley::LaplaceEvent{.noise_multiplier = 1}, 1}};
  const auto account = PARLEY_TRY(parley::account(once, {.at = {1e-6}, .accountant = "basic"}));
  return *account.rows.front().said.front().value / 2;
}

}  // namespace

int main() {
  const auto half = half_of_epsilon();
  const auto charter = parley::Charter::parse("[charter]\nversion = \"one\"\n");
  const bool right =
      half && *half == 0.5 && !charter && charter.error().code == parley::Code::kInvalid &&
      charter.error().where.line == 2 && parley::to_hex(parley::Bytes{0xab, 0x01}) == "ab01";
  char* about = nullptr;
  const bool answers =
      parley_call("about", "{}", nullptr, nullptr, &about) == 0 && about != nullptr;
  parley_free(about);
  std::printf("%s\n", std::string(parley::version()).c_str());
  return right && answers ? 0 : 1;
}
