#include "parley/protocol/vertical/ids/intersection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "parley/protocol/vertical/ot/hashes.h"

namespace parley::protocol::ot {
namespace intersection_test {

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
constexpr Secret32 kFirst{2}, kSecond{3};
constexpr size_t kMost = 100;

/// Both owners up to the letter before `number`, which is to come.
struct Pair {
  Intersection first, second;
  Pair(const Ids& a, const Ids& b, const Hash& charter = kCharter)
      : first(charter, 0, a, kFirst), second(charter, 1, b, kSecond) {}
  void promise() {
    EXPECT_TRUE(first.take_commitment(second.commitment()));
    EXPECT_TRUE(second.take_commitment(first.commitment()));
  }
  void run() {
    promise();
    const Bytes of_second = *first.take_list(second.list(), kMost);
    const Bytes of_first = *second.take_list(first.list(), kMost);
    ASSERT_TRUE(first.take_answer(of_first));
    ASSERT_TRUE(second.take_answer(of_second));
  }
};

Bytes bytes_of(const Hash& hash) { return {hash.begin(), hash.end()}; }

Bytes elements(const Bytes& list, std::vector<size_t> which) {
  Bytes out;
  for (const size_t i : which)
    out.insert(out.end(), list.begin() + long(32 * i), list.begin() + long(32 * i + 32));
  return out;
}

TEST(Intersection, BothFindTheSamePeopleInOneOrder) {
  const Ids a = people(0, 60), b = people(20, 70);
  Pair pair(a, b);
  pair.run();
  EXPECT_EQ(pair.first.other_size(), 70u);
  EXPECT_EQ(pair.second.other_size(), 60u);
  ASSERT_EQ(pair.first.common().size(), 40u);
  ASSERT_EQ(pair.second.common().size(), 40u);
  std::set<learn::IdDigest> found;
  for (size_t i = 0; i < 40; ++i) {
    const learn::IdDigest& id = a[pair.first.common()[i]];
    EXPECT_EQ(id, b[pair.second.common()[i]]);
    EXPECT_TRUE(found.insert(id).second);
  }
  for (uint32_t person = 20; person < 60; ++person) EXPECT_TRUE(found.contains(id_of(person)));
  EXPECT_TRUE(pair.first.take_hash(bytes_of(pair.second.hash_of_common())));
  EXPECT_TRUE(pair.second.take_hash(bytes_of(pair.first.hash_of_common())));
}

TEST(Intersection, OfNobodyIsEmptyAtBoth) {
  Pair pair(people(0, 5), people(5, 5));
  pair.run();
  EXPECT_TRUE(pair.first.common().empty());
  EXPECT_TRUE(pair.first.take_hash(bytes_of(pair.second.hash_of_common())));
}

TEST(Intersection, BegunAnewAllLettersAreTheSameAndUnderAnotherKeyNoneIs) {
  const Ids ids = people(0, 20);
  const Intersection one(kCharter, 0, ids, kFirst), again(kCharter, 0, ids, kFirst);
  EXPECT_EQ(one.list(), again.list());
  EXPECT_EQ(one.commitment(), again.commitment());
  const Intersection key(kCharter, 0, ids, kSecond), job(Hash{9}, 0, ids, kFirst);
  const auto elements_of = [](const Intersection& from) {
    std::set<Bytes> all;
    for (size_t i = 0; i < 20; ++i) all.insert(elements(from.list(), {i}));
    return all;
  };
  for (const Intersection* other : {&key, &job})
    for (const Bytes& element : elements_of(*other))
      EXPECT_FALSE(elements_of(one).contains(element));
}

/// What can be made of an id and the charter alone stands nowhere in what is sent: under a digest
/// it did, and whoever knew all ids but one could try that one.
TEST(Intersection, NothingThatIsSentCanBeMadeFromAnIdAndTheCharter) {
  const Ids ids = people(0, 10);
  Pair pair(ids, people(0, 12));
  pair.run();
  const Intersection guess(kCharter, 0, ids, Secret32{77});
  for (const Bytes& sent : {pair.first.list(), pair.second.list()})
    for (size_t i = 0; i < 10; ++i)
      for (size_t j = 0; j < 10; ++j) EXPECT_NE(elements(sent, {i}), elements(guess.list(), {j}));
  // The order says nothing either: the list of the same people in another order is the same set,
  // and stands in another order (but for a probability of 1/10!).
  Ids turned(ids.rbegin(), ids.rend());
  const Intersection other(kCharter, 0, turned, kFirst);
  EXPECT_NE(other.list(), pair.first.list());
}

TEST(Intersection, AListThatWasNotPromisedIsRefused) {
  Pair pair(people(0, 5), people(0, 5)), other(people(0, 5), people(1, 5));
  pair.promise();
  EXPECT_FALSE(pair.first.take_list(other.second.list(), kMost));
  // Nor can the other promise this owner's list as its own: the place is in the hash.
  Pair mirrored(people(0, 5), people(0, 5));
  ASSERT_TRUE(mirrored.first.take_commitment(mirrored.first.commitment()));
  EXPECT_FALSE(mirrored.first.take_list(mirrored.first.list(), kMost));
}

/// A list of the second owner's, promised as it is.
Result<Bytes> taken(const Bytes& list, size_t most = kMost) {
  Hash promise;
  const ByteView rest[] = {list};
  session_hash({.session = kCharter, .sender = 1}, "ids", {}, rest, promise);
  Intersection first(kCharter, 0, people(0, 5), kFirst);
  EXPECT_TRUE(first.take_commitment(bytes_of(promise)));
  return first.take_list(list, most);
}

TEST(Intersection, HostileListsAreRefused) {
  const Bytes list = Intersection(kCharter, 1, people(0, 5), kSecond).list();
  EXPECT_TRUE(taken(list));
  EXPECT_FALSE(taken({})) << "no ids";
  EXPECT_FALSE(taken(elements(list, {0, 1, 0}))) << "an id twice";
  EXPECT_FALSE(taken(list, 4)) << "more than the charter allows";
  EXPECT_FALSE(taken(Bytes(list.begin(), list.end() - 1))) << "not whole elements";
  Bytes neutral = list, invalid = list;
  std::fill_n(neutral.begin() + 32, 32, uint8_t{0});
  std::fill_n(invalid.begin() + 32, 32, uint8_t{0xff});
  EXPECT_FALSE(taken(neutral));
  EXPECT_FALSE(taken(invalid));
  Intersection first(kCharter, 0, people(0, 5), kFirst);
  EXPECT_FALSE(first.take_commitment(Bytes(31)));
}

TEST(Intersection, HostileAnswersAreRefused) {
  const auto answered = [](auto change) {
    Pair pair(people(0, 5), people(0, 5));
    pair.promise();
    EXPECT_TRUE(pair.first.take_list(pair.second.list(), kMost));
    Bytes answer = *pair.second.take_list(pair.first.list(), kMost);
    change(answer);
    return bool(pair.first.take_answer(answer));
  };
  EXPECT_TRUE(answered([](Bytes&) {}));
  EXPECT_FALSE(answered([](Bytes& a) { a.resize(a.size() - 32); }));
  EXPECT_FALSE(answered([](Bytes& a) { a = elements(a, {0, 1, 2, 3, 3}); }));
  EXPECT_FALSE(answered([](Bytes& a) { a = elements(a, {0, 1, 2, 3, 4, 4}); }));
  EXPECT_FALSE(answered([](Bytes& a) { std::fill_n(a.begin(), 32, uint8_t{0}); }));
  EXPECT_FALSE(answered([](Bytes& a) { std::fill_n(a.begin(), 32, uint8_t{0xff}); }));
}

/// In another order people are paired wrongly, which harms the model of both; each counts once.
TEST(Intersection, AnAnswerInAnotherOrderPairsWronglyAndCountsNobodyTwice) {
  Pair pair(people(0, 5), people(0, 5));
  pair.promise();
  ASSERT_TRUE(pair.first.take_list(pair.second.list(), kMost));
  const Bytes answer = *pair.second.take_list(pair.first.list(), kMost);
  ASSERT_TRUE(pair.first.take_answer(elements(answer, {1, 0, 2, 3, 4})));
  const auto common = pair.first.common();
  EXPECT_EQ(std::set<uint64_t>(common.begin(), common.end()).size(), 5u);
}

TEST(Intersection, TokensThatDifferAreNoticed) {
  Pair pair(people(0, 5), people(0, 5));
  pair.promise();
  ASSERT_TRUE(pair.first.take_list(pair.second.list(), kMost));
  Bytes answer = *pair.second.take_list(pair.first.list(), kMost);
  const Bytes random = Intersection(kCharter, 1, people(50, 1), Secret32{5}).list();
  std::copy(random.begin(), random.end(), answer.begin());
  ASSERT_TRUE(pair.first.take_answer(answer));
  EXPECT_EQ(pair.first.common().size(), 4u);
  EXPECT_FALSE(pair.second.take_hash(bytes_of(pair.first.hash_of_common())));
}

}  // namespace intersection_test
}  // namespace parley::protocol::ot
