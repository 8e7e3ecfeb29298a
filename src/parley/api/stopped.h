// Cancels work that offers no way to stop it: the progress callback throws Stopped.
#pragma once

#include <exception>

#include "parley/base/result.h"

namespace parley::api {

/// The caller has stopped the call. Thrown by what hears of progress, on the calling thread only.
struct Stopped : std::exception {
  const char* what() const noexcept override { return "stopped"; }
};

inline Error stopped() {
  return {Code::kFailed, "was stopped", "What was paid by then is in its ledger."};
}

}  // namespace parley::api
