// Arrow streams that are right, and such as contradict themselves.
#pragma once

#include <parley/c.h>

#include <cstdint>

namespace hostile {

/// Splitmix64: the same calls from the same seed.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t word();
  uint64_t below(uint64_t n) { return word() % n; }
  /// Often one that nobody expects.
  double number();

 private:
  uint64_t state_;
};

int add_stream(Random& random, parley_tables* tables, const char* table, char** error);

}  // namespace hostile
