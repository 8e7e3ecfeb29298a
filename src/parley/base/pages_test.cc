#include "parley/base/pages.h"

#include <gtest/gtest.h>

namespace parley {
namespace {

TEST(Pages, KeepsItsNumbersWhileItGrows) {
  Pages<double> pages;
  for (int i = 0; i < 1'000'000; ++i) pages.push_back(i);  // 8 MB: small, then huge pages.
  ASSERT_EQ(pages.size(), 1'000'000u);
  for (int i = 0; i < 1'000'000; i += 997) EXPECT_EQ(pages[size_t(i)], i);
}

TEST(Pages, NewNumbersAreZeroAlsoAfterShrinking) {
  Pages<int> pages;
  pages.resize(3);
  pages[2] = 7;
  pages.resize(1);
  pages.resize(3);
  EXPECT_EQ(pages[2], 0);
}

TEST(Pages, CopiesAreTheirOwnAndMovesLeaveNothing) {
  Pages<int> pages;
  pages.push_back(1);
  Pages<int> copy = pages;
  copy[0] = 2;
  EXPECT_EQ(pages[0], 1);
  const Pages<int> moved = std::move(pages);
  EXPECT_EQ(moved[0], 1);
  EXPECT_EQ(pages.size(), 0u);  // NOLINT: that it is empty is the point.
  copy = moved;
  EXPECT_EQ(copy[0], 1);
  EXPECT_EQ(Pages<int>(Pages<int>()).size(), 0u);
}

}  // namespace
}  // namespace parley
