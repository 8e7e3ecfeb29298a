// A growable array of plain numbers in pages of its own: huge pages where the system has them,
// grown by moving pages instead of copying numbers, so that a large matrix never exists twice.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "parley/base/result.h"

namespace parley {

template <class T>
class Pages {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Pages() = default;
  Pages(const Pages& other) { append(other.data_, other.size_); }
  Pages(Pages&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  Pages& operator=(Pages other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Pages() {
    if (bytes_ > 0) munmap(data_, bytes_);
  }

  size_t size() const { return size_; }
  const T* data() const { return data_; }
  T* data() { return data_; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& operator[](size_t i) { return data_[i]; }

  /// Room for `size` numbers in all. Pages that nobody touches take no memory.
  void reserve(size_t size) {
    if (size * sizeof(T) > bytes_) grow(size * sizeof(T));
  }
  /// New numbers are zero.
  void resize(size_t size) {
    make_room(size);
    if (size < size_) std::memset(data_ + size, 0, (size_ - size) * sizeof(T));
    size_ = size;
  }
  void push_back(T value) {
    make_room(size_ + 1);
    data_[size_++] = value;
  }

 private:
  static constexpr size_t kPage = 4096, kHuge = 2 << 20;

  void make_room(size_t size) {
    if (size * sizeof(T) > bytes_) grow(std::max(2 * bytes_, size * sizeof(T)));
  }

  void append(const T* from, size_t count) {
    reserve(size_ + count);
    if (count > 0) std::memcpy(data_ + size_, from, count * sizeof(T));
    size_ += count;
  }

  void grow(size_t bytes) {
    const size_t unit = bytes < kHuge ? kPage : kHuge;
    bytes = (bytes + unit - 1) / unit * unit;
    void* pages = bytes_ == 0 ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                              : mremap(data_, bytes_, bytes, MREMAP_MAYMOVE);
    check(pages != MAP_FAILED);
    if (bytes >= kHuge) madvise(pages, bytes, MADV_HUGEPAGE);  // A wish: without, only slower.
    data_ = static_cast<T*>(pages);
    bytes_ = bytes;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t bytes_ = 0;
};

}  // namespace parley
