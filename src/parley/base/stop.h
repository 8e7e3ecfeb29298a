// Whoever works for long looks now and then whether somebody wants it to end.
#pragma once

#include <atomic>

#include "parley/base/result.h"

namespace parley {

/// Once asked, always asked. Where nobody may ask, it is never asked.
class Stop {
 public:
  Stop() = default;
  Stop(const std::atomic<bool>& flag) : flag_(&flag) {}
  bool asked() const { return flag_ != nullptr && *flag_; }

 private:
  const std::atomic<bool>* flag_ = nullptr;
};

inline Error interrupted() {
  return {Code::kUnavailable, "interrupted",
          "Nothing was spent on this question; start again to go on."};
}

}  // namespace parley
