#include "parley/base/memory/wiped.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>

namespace parley {
namespace wiped_test {

/// Looks at memory at the moment when it is given back.
template <class T>
struct Watching {
  using value_type = T;
  static inline size_t given_back = 0, not_zero = 0;

  T* allocate(size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* memory, size_t count) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(memory);
    given_back += count * sizeof(T);
    not_zero += size_t(
        std::count_if(bytes, bytes + count * sizeof(T), [](uint8_t byte) { return byte != 0; }));
    std::allocator<T>().deallocate(memory, count);
  }
};

using Watch = Watching<uint64_t>;
using Watched = std::vector<uint64_t, Wiping<uint64_t, Watch>>;

TEST(Wiped, AVectorIsOverwrittenWhereverItsMemoryIsGivenBack) {
  Watch::given_back = Watch::not_zero = 0;
  {
    Watched grows;
    for (uint64_t i = 1; i <= 1000; ++i) grows.push_back(i);  // Given back as often as it grows.
    EXPECT_GT(Watch::given_back, 1000u);
    Watched other(100, 7);
    grows = std::move(other);
    grows.resize(50);
    grows.shrink_to_fit();
    grows.assign(3000, 5);
  }
  EXPECT_GT(Watch::given_back, 5000 * sizeof(uint64_t));
  EXPECT_EQ(Watch::not_zero, 0u);
}

TEST(Wiped, WithoutItTheWatcherFindsWhatWasLeft) {
  Watch::given_back = Watch::not_zero = 0;
  {
    std::vector<uint64_t, Watch> plain(1000, 0x0101010101010101);
  }
  EXPECT_EQ(Watch::not_zero, Watch::given_back);
}

TEST(Wiped, AValueIsOverwrittenAtItsEnd) {
  using Key = std::array<uint8_t, 32>;
  alignas(Wiped<Key>) std::array<uint8_t, sizeof(Wiped<Key>)> place{};
  Key key;
  key.fill(9);
  auto* held = new (place.data()) Wiped<Key>(key);
  EXPECT_EQ(static_cast<const Key&>(*held), key);
  held->~Wiped<Key>();
  EXPECT_EQ(std::count(place.begin(), place.end(), uint8_t{0}), long(place.size()));
}

}  // namespace wiped_test
}  // namespace parley
