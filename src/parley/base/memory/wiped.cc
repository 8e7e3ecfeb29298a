#include "parley/base/memory/wiped.h"

#include <sodium.h>

namespace parley {

void wipe(void* memory, size_t bytes) {
  if (bytes > 0) sodium_memzero(memory, bytes);
}

}  // namespace parley
