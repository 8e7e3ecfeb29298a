// How work is left that cannot be told to stop.
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
