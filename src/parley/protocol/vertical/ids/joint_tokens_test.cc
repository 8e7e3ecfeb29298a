#include "parley/protocol/vertical/ids/joint_tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

namespace parley::protocol::ot {
namespace joint_tokens_test {

using Ids = std::vector<learn::IdDigest>;

learn::IdDigest id_of(uint32_t person) {
  learn::IdDigest id{};
  for (size_t i = 0; i < 4; ++i) id[i] = static_cast<uint8_t>(person >> (8 * i));
  return id;
}

Ids people(uint32_t first, uint32_t count) {
  Ids ids;
  for (uint32_t i = 0; i < count; ++i) ids.push_back(id_of(first + i));
  return ids;
}

constexpr Hash kCharter{1};
constexpr size_t kMost = 100;
constexpr size_t kProof = 64;

/// Exchanges two elements of an answer or a list.
Bytes exchanged(Bytes list, size_t i, size_t j) {
  std::swap_ranges(list.begin() + long(32 * i), list.begin() + long(32 * i + 32),
                   list.begin() + long(32 * j));
  return list;
}

struct Owners {
  std::vector<Ids> ids;
  std::vector<JointTokens> all{};

  explicit Owners(std::vector<Ids> lists) : ids(std::move(lists)) {
    for (uint32_t m = 0; m < ids.size(); ++m)
      all.emplace_back(kCharter, m, ids.size(), ids[m], Secret32{uint8_t(10 + m)});
  }
  template <class Use>
  void each_pair(const Use& use) {
    for (size_t to = 0; to < all.size(); ++to)
      for (size_t from = 0; from < all.size(); ++from)
        if (to != from) use(from, to);
  }
  void promise() {
    each_pair([&](size_t from, size_t to) {
      EXPECT_TRUE(all[to].take_promise(from, all[from].promise()));
    });
  }
  Bytes answer(size_t from, size_t to) { return *all[from].take_list(to, all[to].list(), kMost); }
  void list_and_answer() {
    promise();
    each_pair(
        [&](size_t from, size_t to) { EXPECT_TRUE(all[to].take_answer(from, answer(from, to))); });
  }
  /// What the learner says.
  std::vector<learn::IdDigest> common() {
    auto left = *all[0].tokens();
    for (size_t m = 1; m < all.size(); ++m) {
      const auto next = *all[m].tokens();
      std::vector<learn::IdDigest> both;
      std::set_intersection(left.begin(), left.end(), next.begin(), next.end(),
                            std::back_inserter(both));
      left = both;
    }
    return left;
  }
};

TEST(JointTokens, AllFindTheSamePeopleInOneOrder) {
  for (const size_t owners : {3u, 4u}) {
    std::vector<Ids> lists;
    for (uint32_t m = 0; m < owners; ++m) lists.push_back(people(2 * m, 12));
    Owners some(lists);
    some.list_and_answer();
    const auto common = some.common();
    const size_t expected = 12 - 2 * (owners - 1);
    ASSERT_EQ(common.size(), expected);
    for (size_t m = 0; m < owners; ++m) {
      ASSERT_TRUE(some.all[m].take_common(common));
      ASSERT_EQ(some.all[m].common().size(), expected);
      EXPECT_EQ(some.all[m].hash_of_common(), some.all[0].hash_of_common());
      for (size_t i = 0; i < expected; ++i)
        EXPECT_EQ(lists[m][some.all[m].common()[i]], lists[0][some.all[0].common()[i]]);
    }
  }
}

/// Lists are hidden by a scalar of their own: an owner that has evaluated another's list, and has
/// all tokens of its own ids, finds none of them there, and so does not learn whom the two share.
TEST(JointTokens, WhoEvaluatesAListFindsNothingOfItsOwnThere) {
  Owners some({people(0, 8), people(0, 8), people(4, 8)});
  some.promise();
  std::set<Element> seen;  // by owner 0
  const auto see = [&](ByteView list) {
    for (const Element& element : elements_in(list)) EXPECT_TRUE(seen.insert(element).second);
  };
  for (const size_t from : {1u, 2u}) {
    see(some.all[from].list());
    const Bytes given = some.answer(0, from), got = some.answer(from, 0);
    see(ByteView(given).first(given.size() - kProof));
    see(ByteView(got).first(got.size() - kProof));
    ASSERT_TRUE(some.all[0].take_answer(from, got));
  }
  EXPECT_EQ(seen.size(), 6 * 8u);
}

TEST(JointTokens, BegunAnewAllLettersAreTheSameAndInAnotherJobNoneIs) {
  Owners one({people(0, 5), people(0, 5), people(0, 5)}), again(one.ids);
  one.promise();
  again.promise();
  EXPECT_EQ(one.all[0].promise(), again.all[0].promise());
  EXPECT_EQ(one.answer(1, 0), again.answer(1, 0));
  const JointTokens other(Hash{9}, 0, 3, one.ids[0], Secret32{10});
  EXPECT_NE(other.list(), one.all[0].list());
  EXPECT_NE(other.promise(), one.all[0].promise());
}

/// Owner 2 exchanges two elements of owner 0's list and not of owner 1's. Without the proof person
/// 0's columns at owner 0 would be paired with person 1's at owner 1, and hers there with his: each
/// in two records.
TEST(JointTokens, AnAnswerInAnotherOrderIsNoticed) {
  Owners some({people(0, 5), people(0, 5), people(0, 5)});
  some.promise();
  const Bytes answer = some.answer(2, 0);
  EXPECT_FALSE(some.all[0].take_answer(2, exchanged(answer, 0, 1)));
}

TEST(JointTokens, HostileAnswersAreRefused) {
  const auto answered = [](auto change) {
    Owners some({people(0, 5), people(0, 5), people(0, 5)});
    some.promise();
    Bytes answer = some.answer(1, 0);
    change(answer);
    return bool(some.all[0].take_answer(1, answer));
  };
  EXPECT_TRUE(answered([](Bytes&) {}));
  EXPECT_FALSE(answered([](Bytes& a) { a.pop_back(); }));
  EXPECT_FALSE(answered([](Bytes& a) { a.erase(a.begin(), a.begin() + 32); }));
  EXPECT_FALSE(answered([](Bytes& a) { std::copy_n(a.begin(), 32, a.begin() + 32); }));
  EXPECT_FALSE(answered([](Bytes& a) { std::fill_n(a.begin(), 32, uint8_t{0}); }));
  EXPECT_FALSE(answered([](Bytes& a) { std::fill_n(a.begin(), 32, uint8_t{0xff}); }));
  EXPECT_FALSE(answered([](Bytes& a) { a.back() ^= 1; }));
  EXPECT_FALSE(answered([](Bytes& a) { a.clear(); }));
  Owners twice({people(0, 5), people(0, 5), people(0, 5)});
  twice.promise();
  const Bytes answer = twice.answer(1, 0);
  EXPECT_TRUE(twice.all[0].take_answer(1, answer));
  EXPECT_FALSE(twice.all[0].take_answer(1, answer));
}

TEST(JointTokens, ListsThatWereNotPromisedTooLongOrTwiceAreRefused) {
  Owners some({people(0, 5), people(0, 5), people(0, 5)});
  EXPECT_FALSE(some.all[0].take_list(1, some.all[1].list(), kMost)) << "before any promise";
  some.promise();
  EXPECT_FALSE(some.all[0].take_promise(1, some.all[1].promise())) << "a second promise";
  EXPECT_FALSE(some.all[0].take_promise(1, Bytes(63)));
  const Bytes list = some.all[1].list();
  Owners other({people(0, 5), people(1, 5), people(0, 5)});
  other.promise();
  EXPECT_FALSE(some.all[0].take_list(1, other.all[1].list(), kMost)) << "not the promised one";
  Owners third(some.ids);
  third.promise();
  EXPECT_FALSE(third.all[0].take_list(1, list, 4)) << "more than the charter allows";
  Owners fourth(some.ids);
  fourth.promise();
  EXPECT_TRUE(fourth.all[0].take_list(1, list, kMost));
  EXPECT_FALSE(fourth.all[0].take_list(1, list, kMost)) << "a second time";
  // Nor can an owner promise another's list as its own: the place is in the promise.
  Owners mirrored(some.ids);
  ASSERT_TRUE(mirrored.all[0].take_promise(1, mirrored.all[2].promise()));
  EXPECT_FALSE(mirrored.all[0].take_list(1, mirrored.all[2].list(), kMost));
}

TEST(JointTokens, ALearnerThatNamesOtherTokensIsNoticed) {
  Owners some({people(0, 5), people(1, 5), people(0, 5)});
  some.list_and_answer();
  const auto others = *some.all[1].tokens();
  const auto common = some.common();
  ASSERT_EQ(common.size(), 4u);
  EXPECT_FALSE(some.all[0].take_common(others)) << "one is not its own";
  Owners turned(some.ids);
  turned.list_and_answer();
  auto wrong = turned.common();
  std::swap(wrong[0], wrong[1]);
  EXPECT_FALSE(turned.all[0].take_common(wrong)) << "they do not rise";
  Owners twice(some.ids);
  twice.list_and_answer();
  wrong = twice.common();
  wrong[1] = wrong[0];
  EXPECT_FALSE(twice.all[0].take_common(wrong)) << "one twice";
  Owners fewer(some.ids);
  fewer.list_and_answer();
  wrong = fewer.common();
  ASSERT_TRUE(fewer.all[1].take_common(wrong));
  wrong.pop_back();
  EXPECT_TRUE(fewer.all[0].take_common(wrong));
  EXPECT_NE(fewer.all[0].hash_of_common(), fewer.all[1].hash_of_common()) << "owners compare it";
}

}  // namespace joint_tokens_test
}  // namespace parley::protocol::ot
