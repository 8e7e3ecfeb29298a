// Says what is missing on a processor older than x86-64-v3, instead of dying of an illegal
// instruction. This file alone is compiled for plain x86-64, and it includes nothing with inline
// code: the linker keeps one copy of an inline function, and that must be the fast one elsewhere.
// On another processor it is empty.
#if defined(__x86_64__)
#include <unistd.h>

namespace {

void say(const char* text) {
  const char* end = text;
  while (*end != '\0') ++end;
  // Nothing is left to do if standard error is closed.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, end - text);
}

bool any_lacking = false;

void need(bool supported, const char* name) {
  if (supported) return;
  if (!any_lacking)
    say("parley needs a processor with AVX2, FMA and BMI2 (x86-64-v3, 2013 or later); "
        "this one lacks:");
  any_lacking = true;
  say(" ");
  say(name);
}

/// Priority 101 is the first one open to programs: it runs before every other constructor of the
/// binary. __builtin_cpu_supports also asks whether the system saves the wide registers.
__attribute__((constructor(101))) void check_processor() {
  __builtin_cpu_init();
  need(__builtin_cpu_supports("avx"), "avx");
  need(__builtin_cpu_supports("avx2"), "avx2");
  need(__builtin_cpu_supports("fma"), "fma");
  need(__builtin_cpu_supports("bmi"), "bmi1");
  need(__builtin_cpu_supports("bmi2"), "bmi2");
  need(__builtin_cpu_supports("f16c"), "f16c");
  need(__builtin_cpu_supports("lzcnt"), "lzcnt");
  need(__builtin_cpu_supports("movbe"), "movbe");
  need(__builtin_cpu_supports("popcnt"), "popcnt");
  need(__builtin_cpu_supports("sse4.2"), "sse4.2");
  if (!any_lacking) return;
  say("\n");
  ::_exit(1);
}

}  // namespace
#endif
