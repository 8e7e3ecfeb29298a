#include "parley/version.h"

#include <algorithm>
#include <thread>

#include "parley/api/internal.h"
#include "parley/base/version.h"

namespace parley {

std::string_view version() { return kVersion; }

int api::threads_or_all(int threads) {
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace parley
