// Memory for what must not outlive its use: overwritten before it is given back, also where a
// vector grows or an error leaves early. What single functions hold in registers and on their
// stacks is not.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace parley {

/// Overwrites, also where the compiler sees that nobody reads it again.
void wipe(void* memory, size_t bytes);

template <class T, class Base = std::allocator<T>>
struct Wiping {
  using value_type = T;
  template <class Other>
  struct rebind {
    using other = Wiping<Other, typename std::allocator_traits<Base>::template rebind_alloc<Other>>;
  };

  Wiping() = default;
  template <class Other, class OtherBase>
  Wiping(const Wiping<Other, OtherBase>&) {}  // NOLINT: as allocators are

  T* allocate(size_t count) { return Base().allocate(count); }
  void deallocate(T* memory, size_t count) {
    wipe(memory, count * sizeof(T));
    Base().deallocate(memory, count);
  }
  bool operator==(const Wiping&) const = default;
};

template <class T>
using WipedVector = std::vector<T, Wiping<T>>;

/// A value of fixed size whose memory is overwritten at its end.
template <class T>
class Wiped : public T {
 public:
  Wiped() = default;
  Wiped(const T& value) : T(value) {}  // NOLINT: it is one
  Wiped(const Wiped&) = default;
  Wiped& operator=(const Wiped&) = default;
  ~Wiped() { wipe(static_cast<T*>(this), sizeof(T)); }
};

}  // namespace parley
