#include "parley/base/memory/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <vector>

namespace parley {
namespace parallel_test {

TEST(InParallel, CoversTheRangeOnceInPartsThatLieInOrder) {
  for (const int threads : {0, 1, 2, 3, 8}) {
    for (const size_t size : {0, 1, 2, 7, 8, 9, 1000}) {
      std::vector<std::atomic<int>> visits(size);
      std::vector<std::atomic<size_t>> ends(std::max(threads, 1));
      std::atomic<size_t> parts = 0;
      in_parallel(threads, size, [&](size_t part, size_t begin, size_t end) {
        ends.at(part) = end;
        ++parts;
        for (size_t i = begin; i < end; ++i) ++visits[i];
      });
      for (size_t i = 0; i < size; ++i) ASSERT_EQ(visits[i], 1) << i << " of " << size;
      for (size_t part = 1; part < parts; ++part) EXPECT_LT(ends[part - 1], ends[part]);
      EXPECT_EQ(ends[parts - 1], size);
    }
  }
}

TEST(InParallel, SumsDoNotDependOnTheNumberOfThreads) {
  const auto sum = [](int threads) {
    std::atomic<uint64_t> total = 0;
    in_parallel(threads, 10'000, [&](size_t, size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) total += i * i;
    });
    return total.load();
  };
  EXPECT_EQ(sum(1), sum(2));
  EXPECT_EQ(sum(1), sum(7));
}

TEST(EachInParallel, DoesEveryPieceOnce) {
  for (const int threads : {0, 1, 2, 3, 8})
    for (const size_t count : {0, 1, 2, 7, 100}) {
      std::vector<std::atomic<int>> visits(count);
      each_in_parallel(threads, count, [&](size_t k) { ++visits.at(k); });
      for (size_t k = 0; k < count; ++k) ASSERT_EQ(visits[k], 1) << k << " of " << count;
    }
}

TEST(InParallel, NeverStartsMorePartsThanThereAreItems) {
  std::atomic<int> parts = 0;
  in_parallel(64, 3, [&](size_t, size_t, size_t) { ++parts; });
  EXPECT_EQ(parts, 3);
}

}  // namespace parallel_test
}  // namespace parley
