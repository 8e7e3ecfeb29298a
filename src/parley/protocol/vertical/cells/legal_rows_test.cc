#include "parley/protocol/vertical/cells/legal_rows.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "parley/protocol/vertical/cells/block_product.h"
#include "parley/protocol/vertical/ot/equality.h"
#include "support/entropy.h"

namespace parley::protocol::ot {
namespace legal_rows_test {

using test::SeededEntropy;
using Pairs = BlockPairs;

constexpr Direction kForward{.session = {1}, .receiver = 0, .sender = 1};
constexpr Direction kBack{.session = {1}, .receiver = 1, .sender = 0};

struct Owner {
  Cells cells;
  size_t columns = 0;
  WipedVector<uint32_t> leaves;
  WipedVector<int64_t> rows() const { return rows_of(cells, leaves, columns); }
};

constexpr size_t kRecords = 40;

/// m: a category of seven levels. k: one of five, a number of six bits, a label.
Owner owner_m(Entropy& entropy) {
  Owner owner{{category_cell(7, false, 0, 1)}, 7, {}};
  for (size_t i = 0; i < kRecords; ++i)
    owner.leaves.push_back(static_cast<uint32_t>(entropy.word() % 7));
  return owner;
}

Owner owner_k(Entropy& entropy) {
  Owner owner{{category_cell(5, false, 0, 1)}, 7, {}};
  for (Cell& cell : number_cells(6, 5)) owner.cells.push_back(std::move(cell));
  owner.cells.push_back(label_cell(6, 1));
  for (size_t i = 0; i < kRecords; ++i) {
    owner.leaves.push_back(static_cast<uint32_t>(entropy.word() % 5));
    for (const uint32_t leaf : number_leaves(entropy.word() & 63, 6)) owner.leaves.push_back(leaf);
    owner.leaves.push_back(entropy.word() & 1);
  }
  return owner;
}

WipedVector<uint64_t> as_words(const WipedVector<int64_t>& values) {
  return {values.begin(), values.end()};
}

struct Shares {
  Words receiver, sender;
};

/// By ideal transfers. `spoil` changes what the sender sends.
Shares product(const Direction& direction, const Owner& receiver, std::span<const uint64_t> numbers,
               size_t columns, Entropy& entropy,
               const std::function<void(ProductLetter&)>& spoil = {}) {
  Pairs both;
  Blocks chosen;
  for (const uint8_t choice : choices_of(receiver.cells, receiver.leaves)) {
    both.push_back({draw_block(entropy), draw_block(entropy)});
    chosen.push_back(both.back()[choice]);
  }
  ProductSender sends(direction, receiver.cells, receiver.columns, columns);
  ProductReceiver receives(direction, receiver.cells, receiver.columns, columns);
  ProductLetter letter = sends.add(both, numbers);
  if (spoil) spoil(letter);
  EXPECT_TRUE(receives.add(chosen, receiver.leaves, letter));
  return {receives.share(), sends.share()};
}

bool found_equal(std::span<const uint64_t> of_k, std::span<const uint64_t> of_m, Entropy& entropy) {
  EqualityFirst first(kForward, of_k, entropy);
  EqualitySecond second(kForward, of_m, entropy);
  const EqualityAnswer answer = *second.answer(first.letter());
  const auto opened = second.conclude(*first.reply(answer));
  return opened && first.conclude(*opened);
}

struct Session {
  SeededEntropy entropy;
  Owner m, k;
  Shares shares{};

  explicit Session(uint64_t seed)
      : entropy(seed, "session"), m(owner_m(entropy)), k(owner_k(entropy)) {}

  /// Does the test pass if k uses these numbers and sends spoiled letters?
  bool passes(const WipedVector<int64_t>& numbers,
              const std::function<void(ProductLetter&)>& spoil = {}) {
    shares = product(kForward, m, as_words(numbers), k.columns, entropy, spoil);
    Hash seed{};
    for (uint8_t& byte : seed) byte = static_cast<uint8_t>(entropy.word());
    const Words vectors = test_vectors(seed, m.columns);
    const Shares test = product(kBack, k, tested_numbers(m.rows(), vectors), kTests, entropy);
    return found_equal(compared_words(shares.sender, vectors, test.receiver),
                       compared_words(shares.receiver, vectors, test.sender), entropy);
  }
  bool passes_with(const std::function<void(ProductLetter&)>& spoil) {
    return passes(k.rows(), spoil);
  }
};

int64_t plain(const Session& session, size_t row, size_t column) {
  const WipedVector<int64_t> a = session.m.rows(), b = session.k.rows();
  int64_t sum = 0;
  for (size_t i = 0; i < kRecords; ++i)
    sum += a[i * session.m.columns + row] * b[i * session.k.columns + column];
  return sum;
}

TEST(LegalRows, PassesForLegalRows) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    Session session(seed);
    EXPECT_TRUE(session.passes(session.k.rows()));
    const Words c = session.shares.receiver - session.shares.sender;
    for (size_t row = 0; row < c.rows; ++row)
      for (size_t column = 0; column < c.columns; ++column)
        EXPECT_EQ(signed_number(c.at(row, column)), plain(session, row, column));
  }
}

// Each of these passes with probability at most 2^-45: false failures below 1e-12.

TEST(LegalRows, FindsRowsThatAreNotThoseOfTheSendersTrees) {
  Session session(7);
  WipedVector<int64_t> huge = session.k.rows();
  huge[0] = 1'000'000;  // The attack that reads labels under a dealer: one huge entry in a column.
  EXPECT_FALSE(session.passes(huge));
  WipedVector<int64_t> other = session.k.rows();
  other[3] += 1;
  EXPECT_FALSE(session.passes(other));
}

TEST(LegalRows, FindsAWrongWordOfAnySizeBelow2To56) {
  Session session(8);
  for (const unsigned power : {0u, 50u, 55u})
    EXPECT_FALSE(session.passes_with([&](ProductLetter& letter) {
      letter.words[17] += uint64_t{1} << power;
    })) << power;
}

TEST(LegalRows, WhatItCannotSeeIsDropped) {
  Session session(9);
  // 2^63 passes each vector with probability 1/2: it may pass, and changes nothing that is kept.
  session.passes_with([](ProductLetter& letter) { letter.words[17] += uint64_t{1} << 63; });
  Words p = session.shares.receiver, q = session.shares.sender;
  reduce(p.values);
  reduce(q.values);
  const Words c = p - q;
  for (size_t row = 0; row < c.rows; ++row)
    for (size_t column = 0; column < c.columns; ++column)
      EXPECT_EQ(signed_number(c.at(row, column)), plain(session, row, column));
}

// The one bit that is not covered by epsilon: the verdict can depend on what the peer chose.

TEST(LegalRows, TwoWrongWordsThatCancelPassOnlyIfTwoRecordsChoseTheSameLeaf) {
  Session session(10);
  for (size_t a = 0; a < 3; ++a)
    for (size_t b = a + 1; b < 12; ++b)
      EXPECT_EQ(session.passes_with([&](ProductLetter& letter) {
        letter.words[a * session.k.columns] += 1;
        letter.words[b * session.k.columns] -= 1;
      }),
                session.m.leaves[a] == session.m.leaves[b]);
}

TEST(LegalRows, ASpoiledTreeIsNoticedOnlyByThoseWhoUseThatSide) {
  Session session(11);
  for (size_t record = 0; record < 12; ++record) {
    // Corrections of the third level: of left children, used by those whose path turns right there.
    const auto spoil = [&](ProductLetter& letter) { letter.corrections[4 * record + 2].low ^= 1; };
    EXPECT_EQ(session.passes_with(spoil), (session.m.leaves[record] & 1) == 0);
  }
}

TEST(Equality, OfDifferentWordsIsDeniedOnBothSides) {
  SeededEntropy entropy(12, "equality");
  const WipedVector<uint64_t> words{1, 2, 3}, other{1, 2, 4};
  EXPECT_TRUE(found_equal(words, words, entropy));
  EqualityFirst first(kForward, words, entropy);
  EqualitySecond second(kForward, other, entropy);
  const EqualityAnswer answer = *second.answer(first.letter());
  const Element reply = *first.reply(answer);
  EXPECT_FALSE(second.conclude(reply));
  EXPECT_FALSE(first.conclude(reply));  // A second that echoes what it was sent.
}

TEST(Equality, RefusesWhatIsNoElement) {
  SeededEntropy entropy(13, "equality");
  const WipedVector<uint64_t> words{1};
  Element invalid;
  invalid.fill(0xff);
  for (const Element& bad : {Element{}, invalid}) {
    EXPECT_FALSE(EqualityFirst(kForward, words, entropy).reply({bad, {}}));
    EXPECT_FALSE(EqualitySecond(kForward, words, entropy).answer(bad));
  }
}

// A round.

struct Pool {
  Pairs both;
  WipedVector<uint8_t> zeta;
  Blocks chosen;
};
Pool pool(size_t size, Entropy& entropy) {
  Pool out;
  for (size_t t = 0; t < size; ++t) {
    out.both.push_back({draw_block(entropy), draw_block(entropy)});
    out.zeta.push_back(entropy.word() & 1);
    out.chosen.push_back(out.both[t][out.zeta[t]]);
  }
  return out;
}

Words random_matrix(size_t rows, size_t columns, Entropy& entropy) {
  Words out(rows, columns);
  for (uint64_t& word : out.values) word = entropy.word();
  reduce(out.values);
  return out;
}

TEST(BlockProduct, IsCTimesNPlusWhatTheChooserAdds) {
  SeededEntropy entropy(14, "block");
  constexpr size_t kRows = 4, kColumns = 3;
  const WipedVector<int64_t> c{31, 0, 32, 0, 0, 0, -27, 0, 32, -58, 32, 0}, n{-3, 7, 0};
  const Words q = random_matrix(kRows, kColumns, entropy);
  Words p = q;
  for (size_t i = 0; i < c.size(); ++i) p.values[i] += static_cast<uint64_t>(c[i]);
  reduce(p.values);
  const Pool strings = pool(pool_size(kColumns, 4), entropy);
  const LeafWords hash(kBack, kRows);
  const BlockChooser chooser(n, 4, strings.zeta);
  const BlockAnswer answer = *answer_block(hash, strings.both, p, kColumns, 4, chooser.flips());
  WipedVector<uint64_t> v = *chooser.conclude(hash, strings.chosen, q, answer.words);
  const WipedVector<int64_t> noise{1, -2, 0, 5}, expected{-92, -2, 81, 403};
  for (size_t row = 0; row < kRows; ++row) v[row] += static_cast<uint64_t>(noise[row]);
  reduce(v);
  for (size_t row = 0; row < kRows; ++row)
    EXPECT_EQ(signed_number(v[row] - answer.mask[row]), expected[row]);
}

TEST(BlockProduct, HoldsAtTheCornersOfTheBox) {
  SeededEntropy entropy(15, "corners");
  constexpr unsigned kBits = 12;
  constexpr size_t kRows = 3, kColumns = 5;
  const LeafWords hash(kBack, kRows);
  for (int trial = 0; trial < 20; ++trial) {
    const Words p = random_matrix(kRows, kColumns, entropy),
                q = random_matrix(kRows, kColumns, entropy);
    WipedVector<int64_t> n{-2048, 2047, 0, -1, static_cast<int64_t>(entropy.word() % 4096) - 2048};
    const Pool strings = pool(pool_size(kColumns, kBits), entropy);
    const BlockChooser chooser(n, kBits, strings.zeta);
    const BlockAnswer answer =
        *answer_block(hash, strings.both, p, kColumns, kBits, chooser.flips());
    const WipedVector<uint64_t> v = *chooser.conclude(hash, strings.chosen, q, answer.words);
    const Words c = p - q;
    for (size_t row = 0; row < kRows; ++row) {
      uint64_t expected = 0;
      for (size_t j = 0; j < kColumns; ++j) expected += c.at(row, j) * static_cast<uint64_t>(n[j]);
      EXPECT_EQ(signed_number(v[row] - answer.mask[row]), signed_number(expected));
    }
  }
}

TEST(BlockProduct, ASecondAnswerToOtherBitsWouldShowTheShare) {
  SeededEntropy entropy(16, "second");
  const Words p = random_matrix(2, 1, entropy);
  const Pool strings = pool(1, entropy);
  const LeafWords hash(kBack, 2);
  const WipedVector<uint8_t> zero{0}, one{1};
  const BlockAnswer first = *answer_block(hash, strings.both, p, 1, 1, zero);
  const BlockAnswer second = *answer_block(hash, strings.both, p, 1, 1, one);
  for (size_t row = 0; row < 2; ++row)
    EXPECT_EQ(first.words[row] + second.words[row], 2 * p.at(row, 0));
}

TEST(BlockProduct, RefusesBitsAndWordsOfAnotherLength) {
  SeededEntropy entropy(17, "length");
  const Words p = random_matrix(2, 1, entropy);
  const Pool strings = pool(4, entropy);
  const LeafWords hash(kBack, 2);
  EXPECT_FALSE(answer_block(hash, strings.both, p, 1, 4, WipedVector<uint8_t>(3)));
  EXPECT_FALSE(answer_block(hash, strings.both, p, 1, 4, WipedVector<uint8_t>(4, 2)));
  const WipedVector<int64_t> n{0};
  const BlockChooser chooser(n, 4, strings.zeta);
  EXPECT_FALSE(chooser.conclude(hash, strings.chosen, p, WipedVector<uint64_t>(7)));
}

}  // namespace legal_rows_test
}  // namespace parley::protocol::ot
