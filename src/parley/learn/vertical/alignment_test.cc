#include "parley/learn/vertical/alignment.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace parley::learn {
namespace alignment_test {

constexpr Secret32 kKey = {1, 2, 3};
using Ids = std::vector<std::string>;

/// The ids in the common order.
Ids ordered(const Ids& ids, const Alignment& alignment) {
  Ids out;
  for (const uint64_t row : alignment.rows) out.push_back(ids[row]);
  return out;
}

TEST(Alignment, AnyOrderOfTheSameIdsIsTheSame) {
  Ids ids{"a", "b", "c", "d", "e"};
  const Alignment first = align(ids, kKey);
  const Ids common = ordered(ids, first);
  do {
    const Alignment other = align(ids, kKey);
    EXPECT_EQ(other.hash(), first.hash());
    EXPECT_EQ(ordered(ids, other), common);
  } while (std::next_permutation(ids.begin(), ids.end()));
}

TEST(Alignment, MissingAndRepeatedIdsAreCountedAndLeftOut) {
  const Ids ids{"x", "", "y", " x ", "  ", "z", "x"};
  const Alignment alignment = align(ids, kKey);
  EXPECT_EQ(alignment.missing, 2u);
  EXPECT_EQ(alignment.repeated, 2u);
  EXPECT_EQ(alignment.hash(), align(Ids{"z", "y", "x"}, kKey).hash());
  EXPECT_EQ(std::count(alignment.rows.begin(), alignment.rows.end(), 0u), 1);  // The first x.
}

TEST(Alignment, AnotherKeyGivesOtherDigests) {
  EXPECT_NE(align(Ids{"a"}, kKey).digests, align(Ids{"a"}, Secret32{9}).digests);
}

TEST(Alignment, DifferencesAreSaidInNumbers) {
  const Alignment one = align(Ids{"a", "b", "c"}, kKey), two = align(Ids{"b", "c", "d", "e"}, kKey);
  EXPECT_TRUE(same_records("north", one, "south", align(Ids{"c", "a", "b"}, kKey)));
  const auto differ = same_records("north", one, "south", two);
  ASSERT_FALSE(differ);
  EXPECT_NE(differ.error().what.find("1 of 3 are missing at south"), std::string::npos);
  EXPECT_NE(differ.error().what.find("2 of 4 at north"), std::string::npos);
}

TEST(Alignment, TheIntersectionIsWhatAllHave) {
  const Ids first{"a", "b", "c", "d"}, second{"d", "x", "b"}, third{"b", "d", "a"};
  const Alignment one = align(first, kKey), two = align(second, kKey), three = align(third, kKey);
  const std::vector lists{one.digests, two.digests, three.digests};
  const Alignment left = intersected(one, lists);
  EXPECT_EQ(left.hash(), align(Ids{"b", "d"}, kKey).hash());
  EXPECT_EQ(intersected(two, lists).hash(), left.hash());
  Ids kept = ordered(first, left);
  std::sort(kept.begin(), kept.end());
  EXPECT_EQ(kept, (Ids{"b", "d"}));
}

}  // namespace alignment_test
}  // namespace parley::learn
