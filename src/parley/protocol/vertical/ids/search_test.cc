// Owners that do not know yet which records all of them have, in a whole job.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "parley/protocol/vertical/pair/files.h"
#include "parley/protocol/vertical/pair/owner.h"
#include "support/pair_agencies.h"

namespace parley::protocol {
namespace pair_ids_test {

using pair_test::Agencies, pair_test::kRecords, pair_test::People;

std::string intersecting(std::string text, const std::string& more = "") {
  const std::string count = "count = " + std::to_string(kRecords) + "\n";
  return text.replace(text.find(count), count.size(),
                      count + "on_mismatch = \"intersect\"\n" + more);
}

std::string intersecting(double epsilon, const std::string& more = "") {
  return intersecting(test::cells_charter(epsilon, kRecords), more);
}
std::string three(double epsilon = 1, const std::string& more = "") {
  return intersecting(test::three_cells_charter(epsilon, kRecords), more);
}

/// People 0 .. 79, 10 .. 84 and 5 .. 69: 60 in common, and two owners have more.
void overlap_of_three(Agencies& job) {
  job.people[0] = People{0, 80, 1};
  job.people[1] = People{10, 75, 2};
  job.people[2] = People{5, 65, 3};
}

/// People 0 .. 69 and 10 .. 79: 60 in common.
void overlap(Agencies& job) {
  job.people[0] = People{0, 70, 1};
  job.people[1] = People{10, 70, 2};
}

/// C = D[0]' D[1] of these people, row by row, the label's column with the first owner.
std::vector<double> exact_products(const plan::VerticalTerms& terms, size_t from, size_t to) {
  std::vector<int64_t> all[2];
  for (size_t m = 0; m < 2; ++m) {
    const learn::CellColumns& cells = terms.cells[m];
    const auto rows =
        learn::rows_of(cells.cells(), cells.leaves(test::cells_rows(m, to)), cells.columns());
    all[m].assign(rows.begin(), rows.end());
  }
  const size_t a = terms.cells[0].columns(), b = terms.cells[1].columns();
  std::vector<double> products;
  for (size_t j = 0; j < a; ++j)
    for (size_t k = 0; k < b; ++k) {
      int64_t sum = 0;
      for (size_t i = from; i < to; ++i) sum += all[0][i * a + j] * all[1][i * b + k];
      products.push_back(double(sum));
    }
  return products;
}

/// Products of two owners' columns stand behind the first owner's own 15 moments and 5 with the
/// label. One that is off by 8 deviations happens with a probability below 1e-14.
void expect_products(const Agencies& job, size_t from, size_t to) {
  const auto terms = *plan::vertical_terms(job.charter);
  const auto exact = exact_products(terms, from, to);
  const Opened& opened = job.owners[0]->opened().at(0);
  ASSERT_EQ(opened, job.owners[1]->opened().at(0));
  for (size_t i = 0; i < exact.size(); ++i)
    EXPECT_NEAR(double(opened[20 + i]), exact[i], 8 * terms.noise.scale()) << i;
}

TEST(PairIds, OwnersFindTheRecordsThatBothHaveAndOpenProductsOfThose) {
  Agencies job(intersecting(1000));
  overlap(job);
  const auto wrong = job.run();
  ASSERT_FALSE(wrong) << describe(*wrong);
  ASSERT_EQ(job.ending(), "finished");
  expect_products(job, 10, 70);
  EXPECT_TRUE(job.owners[0]->files.contains(kIdsPromised));
}

TEST(PairIds, TheSameRecordsInFilesOfAnyOrderNeedNoIntersectInTheCharter) {
  Agencies job(test::cells_charter(1000, kRecords));
  job.people[0] = People{0, kRecords, 3};
  job.people[1] = People{0, kRecords, 4};
  const auto wrong = job.run();
  ASSERT_FALSE(wrong) << describe(*wrong);
  ASSERT_EQ(job.ending(), "finished");
  expect_products(job, 0, kRecords);
}

TEST(IdsOfThree, OwnersFindTheRecordsThatAllHaveAndOpenProductsOfThose) {
  Agencies job(three(1000));
  overlap_of_three(job);
  const auto wrong = job.run();
  ASSERT_FALSE(wrong) << describe(*wrong);
  ASSERT_EQ(job.ending(), "finished");
  expect_products(job, 10, 70);
  EXPECT_EQ(job.owners[0]->opened(), job.owners[2]->opened());
  const std::string promised = job.owners[0]->files.at(kIdsPromised);
  EXPECT_EQ(std::count(promised.begin(), promised.end(), '\n'), 2);
}

TEST(IdsOfThree, AnotherNumberInCommonAListTooLongOrAnotherListEndsTheJob) {
  Agencies fewer(three());
  overlap_of_three(fewer);
  fewer.people[2] = People{5, 64, 3};
  ASSERT_FALSE(fewer.run());
  EXPECT_NE(fewer.ending().find("59 records in common"), std::string::npos) << fewer.ending();
  EXPECT_EQ(fewer.paid(), 0u);
  Agencies longer(three(1, "list_max = 79\n"));
  overlap_of_three(longer);
  ASSERT_FALSE(longer.run());
  EXPECT_NE(longer.ending().find("more than the 79"), std::string::npos) << longer.ending();
  Agencies first(three());
  overlap_of_three(first);
  first.on_the_way = [&](Outgoing&) { first.stop = first.owners[0]->files.contains(kIdsPromised); };
  ASSERT_FALSE(first.run());
  Agencies again(three());
  overlap_of_three(again);
  again.owners[0] = std::move(first.owners[0]);
  for (size_t i = 1; i < 3; ++i) again.people[i]->first += 1, again.people[i]->count -= 1;
  ASSERT_FALSE(again.run());
  EXPECT_NE(again.ending().find("another list of ids than before"), std::string::npos)
      << again.ending();
}

TEST(IdsOfThree, KilledAfterAMessageAboutIdsFindsTheSameAgain) {
  constexpr size_t kAboutIds = 3 * (2 + 2 * 4 + 1);
  for (size_t message = 1; message <= kAboutIds; message += 4) {
    Agencies job(three());
    overlap_of_three(job);
    job.die_at_message = message;
    const auto wrong = job.run();
    ASSERT_FALSE(wrong) << message << ": " << describe(*wrong);
    EXPECT_EQ(job.restarts, 1u);
    EXPECT_EQ(job.ending(), "finished") << message;
  }
}

/// A learner that names other tokens in common, or not the same to all, would choose who counts.
TEST(IdsOfThree, ALearnerThatTellsOneOwnerOtherTokensIsNoticed) {
  for (const bool foreign : {false, true}) {
    Agencies job(three());
    overlap_of_three(job);
    job.on_the_way = [&](Outgoing& next) {
      const auto message = wire::decode_to_owner(next.message);
      const auto* said = std::get_if<wire::IdTokens>(&message->body);
      if (said == nullptr || next.owner != 1) return;
      wire::IdTokens other = *said;
      if (foreign)
        other.tokens.back() ^= 1;
      else
        other.tokens.resize(other.tokens.size() - wire::kTokenBytes);
      next.message = wire::encode(message->envelope, wire::TokensOfIds{other, wire::Leg::kDown});
    };
    ASSERT_FALSE(job.run());
    EXPECT_NE(job.ending(), "finished");
    EXPECT_EQ(job.paid(), 0u);
    const std::string why = foreign ? "that are not this owner's" : "records in common";
    EXPECT_NE(job.ending().find(why), std::string::npos) << job.ending();
  }
}

/// What the learner is shown of a list can be made by nobody alone, and says nothing of its order.
TEST(IdsOfThree, TokensAtTheLearnerAreThoseOfNoOtherJobAndRise) {
  std::set<Bytes> seen;
  for (const std::string more : {"", "list_max = 100\n"}) {
    Agencies job(three(1, more));
    overlap_of_three(job);
    job.on_the_way = [&](Outgoing& next) {
      const auto message = wire::decode_to_owner(next.message);
      const auto* said = std::get_if<wire::IdTokens>(&message->body);
      if (said == nullptr || next.owner != 0) return;
      ASSERT_TRUE(learn::digests_in(said->tokens));
      ASSERT_EQ(said->tokens.size(), kRecords * wire::kTokenBytes);
      for (size_t i = 0; i < kRecords; ++i) {
        const auto at = said->tokens.begin() + long(i * wire::kTokenBytes);
        EXPECT_TRUE(seen.emplace(at, at + wire::kTokenBytes).second) << "in two jobs";
      }
    };
    ASSERT_FALSE(job.run());
    EXPECT_EQ(job.ending(), "finished");
  }
}

TEST(PairIds, AnotherNumberOfCommonRecordsThanTheChartersEndsTheJob) {
  Agencies job(intersecting(1));
  job.people[0] = People{0, 70, 1};
  job.people[1] = People{11, 70, 2};
  ASSERT_FALSE(job.run());
  EXPECT_NE(job.ending().find("59 records in common"), std::string::npos) << job.ending();
  for (const auto& owner : job.owners) EXPECT_EQ(owner->ledger.last_round(job.charter.hash), 0u);
}

TEST(PairIds, ALongerListThanTheCharterAllowsIsRefusedOnBothSides) {
  Agencies job(intersecting(1, "list_max = 69\n"));
  overlap(job);
  ASSERT_FALSE(job.run());
  EXPECT_NE(job.ending().find("more than the 69"), std::string::npos) << job.ending();
}

/// No digest or hash of ids leaves for the learner before both have them in common.
TEST(PairIds, TheLearnerSeesNoHashOfIdsThatItCouldTry) {
  Agencies job(intersecting(1));
  overlap(job);
  const auto greeting = wire::decode_from_owner(job.start(0)->connect());
  ASSERT_TRUE(greeting);
  const auto& hello = std::get<wire::Hello>(greeting->body);
  EXPECT_EQ(hello.sharing->records, Hash{});
  EXPECT_EQ(hello.sharing->columns, Hash{});
}

/// The first messages are those about ids; for the others see PairOwner's test.
TEST(PairIds, KilledAfterAnyMessageAboutIdsFindsTheSameAgain) {
  constexpr size_t kAboutIds = 2 * (2 + 4);  // to each a welcome, a session, and four letters
  for (size_t message = 1; message <= kAboutIds; ++message) {
    Agencies job(intersecting(1));
    overlap(job);
    job.die_at_message = message;
    const auto wrong = job.run();
    ASSERT_FALSE(wrong) << message << ": " << describe(*wrong);
    EXPECT_EQ(job.restarts, 1u);
    EXPECT_EQ(job.ending(), "finished") << message;
  }
}

TEST(PairIds, KilledAtTheWriteOfThePromiseFindsTheSameAgain) {
  for (const bool after : {false, true})
    for (const size_t write : {1u, 2u}) {
      Agencies job(intersecting(1));
      overlap(job);
      job.die_at_write = write, job.after_writing = after;
      const auto wrong = job.run();
      ASSERT_FALSE(wrong) << describe(*wrong);
      EXPECT_EQ(job.restarts, 1u);
      EXPECT_EQ(job.ending(), "finished") << write << after;
    }
}

/// Whoever comes back with another list could try other ids on this owner's answers.
TEST(PairIds, ASecondListOfOnePeerIsNotAnswered) {
  Agencies first(intersecting(1));
  overlap(first);
  first.on_the_way = [&](Outgoing&) { first.stop = first.owners[0]->files.contains(kIdsPromised); };
  ASSERT_FALSE(first.run());
  ASSERT_FALSE(first.learner.finished());
  Agencies again(intersecting(1));
  overlap(again);
  again.owners[0] = std::move(first.owners[0]);
  again.people[1] = People{11, 70, 2};
  ASSERT_FALSE(again.run());
  EXPECT_NE(again.ending().find("another list of ids than before"), std::string::npos)
      << again.ending();
}

}  // namespace pair_ids_test
}  // namespace parley::protocol
