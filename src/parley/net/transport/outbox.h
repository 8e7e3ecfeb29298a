// A queue of messages for one neighbour, from any thread to the thread that owns its stream.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "parley/base/bytes.h"

namespace parley::net {

/// While there is no stream, what is put in is dropped: whoever misses something asks again.
class Outbox {
 public:
  /// `wake` is called for every message, until `close` has returned.
  void open(std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    wake_ = nullptr;
    messages_.clear();
  }
  void put(Bytes message) {
    const std::lock_guard lock(mutex_);
    if (!wake_ || messages_.size() >= kMax) return;
    messages_.push_back(std::move(message));
    wake_();
  }
  std::optional<Bytes> take() {
    const std::lock_guard lock(mutex_);
    if (messages_.empty()) return std::nullopt;
    Bytes message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }

 private:
  static constexpr size_t kMax = 1000;
  std::mutex mutex_;
  std::function<void()> wake_{};
  std::deque<Bytes> messages_{};
};

}  // namespace parley::net
