#include "parley/protocol/vertical/cells/pair_setup.h"

#include <gtest/gtest.h>

#include <functional>

#include "support/entropy.h"
#include "support/to_mask.h"

namespace parley::protocol::ot {
namespace pair_setup_test {

using test::SeededEntropy;

const PairShare& share_of(const PairSetup& owner) {
  return privacy::ToMaskForTest::value(owner.share());
}

/// m: two categories, one of which may be missing. k: a number, a category, a label.
PairPlan plan_of(size_t records, size_t chunk = kChunk) {
  PairPlan plan;
  plan.session = {42};
  plan.records = records;
  plan.k.place = 3;
  plan.m.cells = {category_cell(5, true, 0, 16), category_cell(2, false, 5, 16)};
  add_to_all(plan.m.cells[0], 7, 16);
  plan.m.columns = 8;
  plan.k.cells = number_cells(6, 0);
  plan.k.cells.push_back(category_cell(3, false, 1, 16));
  plan.k.cells.push_back(label_cell(4, 1));
  plan.k.columns = 5;
  plan.m.pool = pool_size(7, 12);
  plan.k.pool = pool_size(4, 12);
  plan.chunk = chunk;
  return plan;
}

WipedVector<uint32_t> random_leaves(const Cells& cells, size_t records, Entropy& entropy) {
  WipedVector<uint32_t> leaves;
  for (size_t i = 0; i < records; ++i)
    for (const Cell& cell : cells)
      leaves.push_back(static_cast<uint32_t>(entropy.word() % cell.leaves()));
  return leaves;
}

/// Both owners, and a post that may change letters.
struct Pair {
  SeededEntropy records, of_m, of_k;
  PairPlan plan;
  WipedVector<uint32_t> leaves_m, leaves_k;
  PairSetup m, k;
  std::vector<PairStep> steps;
  size_t letters = 0, bytes = 0;

  explicit Pair(PairPlan with, uint64_t seed = 1)
      : records(seed, "records"),
        of_m(seed, "m"),
        of_k(seed, "k"),
        plan(std::move(with)),
        leaves_m(random_leaves(plan.m.cells, plan.records, records)),
        leaves_k(random_leaves(plan.k.cells, plan.records, records)),
        m(plan, Role::kM, privacy::ToMaskForTest::make(leaves_m), of_m),
        k(plan, Role::kK, privacy::ToMaskForTest::make(leaves_k), of_k),
        steps(steps_of(plan)) {}

  /// Letter after letter until both are done, or one of them refuses.
  Result<void> run(const std::function<void(const PairStep&, Bytes&)>& change = {}) {
    while (!m.is_done() || !k.is_done())
      for (auto [from, to] : {std::pair{&m, &k}, std::pair{&k, &m}})
        for (Bytes& letter : from->write()) {
          if (change) change(steps[letters], letter);
          ++letters;
          bytes += letter.size();
          TRY(to->take(letter));
        }
    return {};
  }

  Words plain() const {
    const auto a = rows_of(plan.m.cells, leaves_m, plan.m.columns);
    const auto b = rows_of(plan.k.cells, leaves_k, plan.k.columns);
    Words c(plan.m.columns, plan.k.columns);
    for (size_t i = 0; i < plan.records; ++i)
      for (size_t row = 0; row < c.rows; ++row)
        for (size_t column = 0; column < c.columns; ++column)
          c.at(row, column) +=
              static_cast<uint64_t>(a[i * c.rows + row] * b[i * c.columns + column]);
    return c;
  }
};

TEST(PairSetup, LeavesSharesOfTheProductAndPools) {
  for (const size_t chunk : {kChunk, size_t{128 + 64}}) {
    Pair pair(plan_of(50, chunk));
    ASSERT_TRUE(pair.run());
    Words c = share_of(pair.m).share - share_of(pair.k).share;
    for (uint64_t& word : c.values) word = static_cast<uint64_t>(signed_number(word));
    EXPECT_EQ(c, pair.plain());
    for (auto [own, other] : {std::pair{&pair.m, &pair.k}, std::pair{&pair.k, &pair.m}}) {
      const PairShare& chosen = share_of(*own);
      const auto& both = share_of(*other).others;
      ASSERT_EQ(chosen.strings.size(), both.size());
      ASSERT_EQ(chosen.choices.size(), both.size());
      for (size_t t = 0; t < both.size(); ++t)
        EXPECT_EQ(chosen.strings[t], both[t][chosen.choices[t]]);
    }
  }
}

TEST(PairSetup, ARoundFromItsShareAndPoolIsTheProduct) {
  Pair pair(plan_of(50));
  ASSERT_TRUE(pair.run());
  const WipedVector<int64_t> n{-2048, 2047, 5, -1};  // of k's columns but the label's
  const LeafWords hash(pair.plan.back(), pair.plan.m.columns);
  const PairShare &m = share_of(pair.m), &k = share_of(pair.k);
  const BlockChooser chooser(n, 12, k.choices);
  const BlockAnswer answer = *answer_block(hash, m.others, m.share, 4, 12, chooser.flips());
  const WipedVector<uint64_t> v = *chooser.conclude(hash, k.strings, k.share, answer.words);
  const Words c = pair.plain();
  for (size_t row = 0; row < c.rows; ++row) {
    int64_t expected = 0;
    for (size_t j = 0; j < n.size(); ++j) expected += static_cast<int64_t>(c.at(row, j)) * n[j];
    EXPECT_EQ(signed_number(v[row] - answer.mask[row]), expected);
  }
}

TEST(PairSetup, SharesDifferFromSessionToSession) {
  Pair one(plan_of(10), 1), other(plan_of(10), 1);
  PairPlan plan = plan_of(10);
  plan.session = {43};
  Pair third(plan, 1);
  ASSERT_TRUE(one.run() && other.run() && third.run());
  EXPECT_EQ(share_of(one.m).share, share_of(other.m).share);  // The same seed replays.
  EXPECT_NE(share_of(one.m).share, share_of(third.m).share);
}

TEST(PairSetup, TheOneIntoWhoseTreesItIsCheaperToSendReceives) {
  const PairPlan plan = plan_of(1);
  EXPECT_TRUE(first_receives(plan.m, plan.k));   // 2 cells, 5 columns
  EXPECT_FALSE(first_receives(plan.k, plan.m));  // 4 cells, 8 columns
}

// Attacks: whatever one owner or the post changes, the session ends, but for what the verdict of
// the test may let through (LegalRows.*).

TEST(PairSetup, EveryLetterOfAnotherLengthIsRefused) {
  const size_t letters = steps_of(plan_of(12)).size();
  for (size_t at = 0; at < letters; ++at) {
    Pair pair(plan_of(12));
    EXPECT_FALSE(pair.run([&](const PairStep&, Bytes& letter) {
      if (pair.letters == at) letter.resize(at % 2 == 0 ? letter.size() + 1 : letter.size() - 1);
    })) << at;
  }
}

TEST(PairSetup, ColumnsThatWereNotPromisedAreRefused) {
  Pair pair(plan_of(12));
  EXPECT_FALSE(pair.run([&](const PairStep& step, Bytes& letter) {
    if (step.letter == Letter::kColumns && step.back) letter[5] ^= 1;
  }));
  EXPECT_FALSE(pair.m.test_begun());
}

TEST(PairSetup, ForwardColumnsThatDifferAreNoticedByTheProof) {
  // One changed bit in a column: noticed if delta has a one there, so with 64 of them nearly always
  // (false failure 2^-64).
  Pair pair(plan_of(12));
  EXPECT_FALSE(pair.run([&](const PairStep& step, Bytes& letter) {
    if (step.letter == Letter::kColumns && !step.back)
      for (size_t j = 0; j < 64; ++j) letter[j * letter.size() / kBase] ^= 1;
  }));
  EXPECT_FALSE(pair.k.test_begun());
}

TEST(PairSetup, AWrongWordFailsTheTestAndBothKnow) {
  Pair pair(plan_of(12));
  EXPECT_FALSE(pair.run([&](const PairStep& step, Bytes& letter) {
    if (step.letter == Letter::kWords && !step.back) letter[letter.size() - 5] ^= 1;
  }));
  EXPECT_TRUE(pair.m.test_begun());
  EXPECT_TRUE(pair.k.test_begun());
  EXPECT_FALSE(pair.m.is_done());
  EXPECT_FALSE(pair.k.is_done());
}

TEST(PairSetup, ALetterThatIsNotDueIsRefused) {
  Pair pair(plan_of(12));
  EXPECT_FALSE(pair.k.take(Bytes(32)));  // k writes the second letter; the first is taken as due,
  Pair again(plan_of(12));               // but 32 zeros are no element.
  const auto letters = again.m.write();
  ASSERT_EQ(letters.size(), 1u);
  ASSERT_TRUE(again.k.take(letters[0]));
  EXPECT_FALSE(again.k.take(letters[0]));
}

}  // namespace pair_setup_test
}  // namespace parley::protocol::ot
