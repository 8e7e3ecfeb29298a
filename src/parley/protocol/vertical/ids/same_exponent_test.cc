#include "parley/protocol/vertical/ids/same_exponent.h"

#include <gtest/gtest.h>

#include <utility>

#include "support/entropy.h"

namespace parley::protocol::ot {
namespace same_exponent_test {

const Direction kDirection{Hash{1}, 0, 2};

struct Proved {
  test::SeededEntropy entropy{3, "exponents"};
  Scalar secret = Scalar::draw(entropy);
  std::vector<Element> given{}, made{};

  explicit Proved(size_t size = 6) {
    for (size_t i = 0; i < size; ++i) {
      given.push_back(draw_element(entropy));
      made.push_back(*secret.times(given.back()));
    }
  }
  ExponentProof proof() { return *prove_exponent(kDirection, secret, {given, made}, entropy); }
  bool holds(const ExponentProof& proof) const {
    return bool(check_exponent(kDirection, secret.of_generator(), {given, made}, proof));
  }
};

TEST(SameExponent, AnHonestListPasses) {
  for (const size_t size : {1u, 2u, 6u}) {
    Proved list(size);
    EXPECT_TRUE(list.holds(list.proof()));
  }
}

/// What an owner would do to make one person two records. It proves what it sends, as well as it
/// can.
TEST(SameExponent, TwoElementsExchangedOrOneOfAnotherExponentDoNotPass) {
  Proved exchanged;
  std::swap(exchanged.made[1], exchanged.made[4]);
  EXPECT_FALSE(exchanged.holds(exchanged.proof()));
  Proved other;
  other.made[3] = *Scalar::draw(other.entropy).times(other.given[3]);
  EXPECT_FALSE(other.holds(other.proof()));
  // Two changes that cancel in a plain sum.
  Proved cancel;
  const Element shift = draw_element(cancel.entropy);
  cancel.made[0] = *sum(cancel.made[0], shift);
  cancel.made[1] = *difference(cancel.made[1], shift);
  EXPECT_FALSE(cancel.holds(cancel.proof()));
}

TEST(SameExponent, AProofOfOtherListsOwnersOrJobsDoesNotPass) {
  Proved list;
  const ExponentProof proof = list.proof();
  Proved shorter = Proved(5);
  EXPECT_FALSE(shorter.holds(proof));
  const Element a = list.secret.of_generator();
  const TwoLists lists{list.given, list.made};
  EXPECT_TRUE(check_exponent(kDirection, a, lists, proof));
  EXPECT_FALSE(check_exponent({Hash{2}, 0, 2}, a, lists, proof));
  EXPECT_FALSE(check_exponent({Hash{1}, 1, 2}, a, lists, proof));
  EXPECT_FALSE(check_exponent({Hash{1}, 0, 1}, a, lists, proof));
  EXPECT_FALSE(check_exponent(kDirection, list.given[0], lists, proof));
  EXPECT_FALSE(check_exponent(kDirection, Element{}, lists, proof));
  EXPECT_FALSE(check_exponent(kDirection, a, {list.given, std::span(list.made).first(5)}, proof));
  EXPECT_FALSE(check_exponent(kDirection, a, {{}, {}}, proof));
}

TEST(SameExponent, AChangedProofDoesNotPass) {
  Proved list;
  const ExponentProof proof = list.proof();
  for (size_t byte = 0; byte < 32; ++byte) {
    ExponentProof changed = proof;
    changed.challenge[byte] ^= 1;
    EXPECT_FALSE(list.holds(changed));
    changed = proof;
    changed.response[byte] ^= 1;
    EXPECT_FALSE(list.holds(changed));
  }
  ExponentProof wide = proof;
  wide.response.fill(0xff);  // not reduced
  EXPECT_FALSE(list.holds(wide));
}

TEST(SameExponent, BytesThatAreNoElementDoNotPass) {
  Proved list;
  const ExponentProof proof = list.proof();
  list.made[2].fill(0xff);
  EXPECT_FALSE(list.holds(proof));
  list.made[2].fill(0);
  EXPECT_FALSE(list.holds(proof));
}

}  // namespace same_exponent_test
}  // namespace parley::protocol::ot
