// A growable array of plain numbers in pages of its own, so that a large matrix never exists twice.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "parley/base/memory/pages_memory.h"

namespace parley {

template <class T>
class Pages {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Pages() = default;
  /// What no longer fits `use` goes to its file. If that fails, nothing is added, and `use` says
  /// so.
  explicit Pages(std::shared_ptr<MemoryUse> use) : memory_(std::move(use)) {}
  Pages(const Pages& other) { append(other.data(), other.size_); }
  Pages(Pages&& other) noexcept
      : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
  Pages& operator=(Pages other) noexcept {
    memory_ = std::move(other.memory_);
    std::swap(size_, other.size_);
    return *this;
  }

  size_t size() const { return size_; }
  const T* data() const { return reinterpret_cast<const T*>(memory_.data()); }
  T* data() { return reinterpret_cast<T*>(memory_.data()); }
  const T& operator[](size_t i) const { return data()[i]; }
  T& operator[](size_t i) { return data()[i]; }

  /// Room for `size` numbers in all. Pages that nobody touches take no memory.
  void reserve(size_t size) { make_room(size); }
  /// New numbers are zero. False: there is no room.
  bool resize(size_t size) {
    if (!make_room(size)) return false;
    if (size < size_) std::memset(data() + size, 0, (size_ - size) * sizeof(T));
    size_ = size;
    return true;
  }
  void push_back(T value) {
    if (make_room(size_ + 1)) data()[size_++] = value;
  }

  bool in_file() const { return memory_.in_file(); }
  /// Numbers [begin, end) need not stay in memory, where there is a file to read them from again.
  void release(size_t begin, size_t end) const {
    memory_.release(begin * sizeof(T), end * sizeof(T));
  }

 private:
  bool make_room(size_t size) {
    return size * sizeof(T) <= memory_.room() || memory_.grow(size_ * sizeof(T), size * sizeof(T));
  }

  void append(const T* from, size_t count) {
    check(make_room(size_ + count));
    if (count > 0) std::memcpy(data() + size_, from, count * sizeof(T));
    size_ += count;
  }

  PageMemory memory_{};
  size_t size_ = 0;
};

}  // namespace parley
