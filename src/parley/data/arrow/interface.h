// The structs of the Arrow C data and stream interfaces
// (https://arrow.apache.org/docs/format/CDataInterface.html, CStreamInterface.html): how libraries
// hand over record batches without being linked to one another.
#pragma once

#include <cstdint>
#include <utility>

// The names and the layout are those of the Arrow C data interface.
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace parley::data {

/// A struct of the interface, released when it is no longer needed.
template <class T>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T* from) : value_(*from) { from->release = nullptr; }
  Owned(Owned&& other) noexcept : value_(std::exchange(other.value_, T{})) {}
  Owned& operator=(Owned&&) = delete;
  ~Owned() {
    if (value_.release != nullptr) value_.release(&value_);
  }
  T* get() { return &value_; }
  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }

 private:
  T value_{};
};

}  // namespace parley::data
