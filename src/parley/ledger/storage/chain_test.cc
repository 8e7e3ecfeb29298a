#include "parley/ledger/storage/chain.h"

#include <gtest/gtest.h>

#include "parley/base/math/number.h"
#include "parley/privacy/accounting/zcdp.h"

namespace parley::ledger {
namespace chain_test {

using privacy::Budget;
using privacy::Cost;
using privacy::Delta;
using privacy::Epsilon;
using privacy::Track;

/// A chain with one data set, written row by row without a database.
struct ChainTest : testing::Test {
  ChainTest() {
    chain.declare(loans);
    EXPECT_TRUE(add({.kind = "budget", .event = budget_event(loans), .track = "none"}));
  }

  Row next(Row row) const {
    row.id = chain.size() + 1;
    row.dataset = 1;
    row.previous = chain.head();
    row.hash = hash_of(row);
    return row;
  }
  Result<void> add(Row row) {
    row = next(std::move(row));
    if (auto accepted = chain.accepts(row); !accepted) return accepted;
    chain.extend(row);
    return {};
  }
  Row answer(int64_t round, const char* track, double cost, double delta = 0) const {
    return {.kind = "answer", .round = round, .track = track, .cost = cost, .delta = delta};
  }

  const std::string approved = note_event(Decision{.by = "alice", .at = "2026-11-15T08:00:00Z"});
  const Dataset loans{.id = 1, .name = "loans", .budget = *Budget::make(Epsilon{2}, 2e-6, 0.5)};
  Chain chain{Hash{}};
};

TEST_F(ChainTest, HashesTheTupleOfTheFormat) {
  // Computed by an independent program from the description in the format.
  Row row{.id = 2,
          .at = "2026-11-15T08:00:00Z",
          .kind = "answer",
          .dataset = 1,
          .round = 1,
          .event = "{\"laplace\":{}}",
          .track = "pure",
          .cost = 0.1,
          .delta = 0,
          .answer = {1, 2, 3}};
  row.previous.fill(1);
  row.charter.fill(2);
  row.query.fill(3);
  EXPECT_EQ(to_hex(hash_of(row)),
            "baeac6c7f9ab72f22b95b947407424c66d3068ffaa9c9010f045a03d55dc61c9");
}

TEST_F(ChainTest, AReceiptConvertsTheZcdpTrackOnceAndAddsThePureTrack) {
  const double rho = 0.004;
  ASSERT_TRUE(add(answer(1, "zcdp", rho, 1e-10)));
  ASSERT_TRUE(add(answer(2, "pure", 0.25)));
  ASSERT_TRUE(add(answer(3, "zcdp", rho)));
  const Delta convert = *Delta::make(loans.budget.delta_convert);
  const auto receipt = [&](int64_t round) { return chain.receipt({.dataset = 1, .round = round}); };
  EXPECT_EQ(receipt(1).epsilon_spent, privacy::zcdp_epsilon(rho, convert));
  EXPECT_EQ(receipt(1).delta_spent, add_up(1e-10, convert.value()));
  EXPECT_EQ(receipt(2).epsilon_spent, add_up(0.25, privacy::zcdp_epsilon(rho, convert)));
  EXPECT_EQ(receipt(3).epsilon_spent, add_up(0.25, privacy::zcdp_epsilon(2 * rho, convert)));
  EXPECT_LE(receipt(3).epsilon_spent, loans.budget.epsilon);
  EXPECT_LE(receipt(3).delta_spent, loans.budget.delta);
}

TEST_F(ChainTest, EachTrackHasItsOwnLimit) {
  const Budget& budget = loans.budget;
  EXPECT_TRUE(chain.can_afford(1, {Track::kPure, 0.25}, 2));
  EXPECT_FALSE(chain.can_afford(1, {Track::kPure, 0.25}, 3));
  EXPECT_TRUE(chain.can_afford(1, {Track::kZcdp, budget.rho_max / 2}, 2));
  EXPECT_FALSE(chain.can_afford(1, {Track::kZcdp, next_up(budget.rho_max)}, 1));
  EXPECT_FALSE(chain.can_afford(1, {Track::kZcdp, 0, next_up(budget.delta_extra)}, 1));
  EXPECT_TRUE(chain.can_afford(1, {Track::kPure, 0}, ~uint32_t{0})) << "what is free is affordable";
  ASSERT_TRUE(add(answer(1, "pure", 0.5)));
  EXPECT_FALSE(chain.can_afford(1, {Track::kPure, 1e-9}, 1));
  EXPECT_TRUE(add(answer(2, "zcdp", budget.rho_max, budget.delta_extra)));
  EXPECT_FALSE(add(answer(3, "zcdp", 1e-300)));
}

// Whoever can recompute hashes still cannot write what the rules forbid.
TEST_F(ChainTest, RefusesForbiddenRowsAlsoWhenTheirHashesAreRight) {
  const auto refused = [&](Row row) {
    const auto added = add(std::move(row));
    return !added && added.error().code == Code::kIntegrity && added.error().where.key == "row 3";
  };
  ASSERT_TRUE(add(answer(1, "pure", 0.25)));
  EXPECT_TRUE(refused(answer(2, "none", 0))) << "an answer without a charge";
  EXPECT_TRUE(refused(answer(2, "pure", -0.1))) << "budget given back";
  EXPECT_TRUE(refused(answer(2, "pure", 0.1, -1e-9)));
  EXPECT_TRUE(refused(answer(2, "pure", 0.26))) << "more than the budget";
  EXPECT_TRUE(refused(answer(3, "pure", 0.1))) << "a round left out";
  EXPECT_TRUE(refused(answer(1, "pure", 0.1))) << "a round twice";
  EXPECT_TRUE(refused({.kind = "bonus", .round = 1, .track = "pure", .cost = 0.1}));
  EXPECT_TRUE(refused({.kind = "evaluation", .round = 2, .track = "pure", .cost = 0.1}));
  EXPECT_TRUE(refused({.kind = "budget", .event = "{}", .track = "none"}));
  EXPECT_TRUE(refused({.kind = "approval", .event = approved, .track = "pure", .cost = 0.1}));
  EXPECT_TRUE(refused({.kind = "approval", .event = "{}", .track = "none"}));
  EXPECT_TRUE(add({.kind = "approval", .event = approved, .track = "none"}));
  EXPECT_TRUE(add({.kind = "evaluation", .round = 1, .track = "pure", .cost = 0.1}));
}

TEST_F(ChainTest, AfterTheFirstChargeABudgetOnlyGrowsOnEveryTrackAndKeepsItsUnit) {
  const auto budget_row = [&](double epsilon, double delta, double pure, std::string unit = "") {
    const Dataset other{.id = 1,
                        .name = "loans",
                        .budget = *Budget::make(*Epsilon::make(epsilon), delta, pure),
                        .unit = std::move(unit)};
    return Row{.kind = "budget", .event = budget_event(other), .track = "none"};
  };
  EXPECT_TRUE(add(budget_row(1, 2e-6, 0.2))) << "before a charge it is free";
  EXPECT_TRUE(add(budget_row(2, 2e-6, 0.5)));
  ASSERT_TRUE(add(answer(1, "pure", 0.5)));
  EXPECT_FALSE(add(budget_row(1.9, 2e-6, 0.5))) << "less epsilon";
  EXPECT_FALSE(add(budget_row(2, 1e-6, 0.5))) << "less delta";
  EXPECT_FALSE(add(budget_row(3, 2e-6, 0.4))) << "the pure track pays for the other";
  EXPECT_FALSE(add(budget_row(2, 2e-6, 1))) << "the other track pays for the pure one";
  EXPECT_FALSE(add(answer(2, "pure", 0.1)));
  EXPECT_TRUE(add(budget_row(3, 2e-6, 0.7, "member"))) << "a unit that was never recorded";
  EXPECT_TRUE(add(answer(2, "pure", 0.125))) << "the budget in force when it was charged";
  EXPECT_FALSE(add(budget_row(3, 2e-6, 0.7, "record")));
  EXPECT_FALSE(add(budget_row(3, 2e-6, 0.7)));
}

TEST_F(ChainTest, ARestoredChargeMustFollowItsAnnouncementAtOnceAndMayExceedTheBudget) {
  Hash lost{}, query{};
  lost.fill(7);
  query.fill(8);
  const auto announcement = [&](int64_t round) {
    return Row{.kind = "approval",
               .round = round,
               .query = query,
               .event = note_event(Restored{privacy::ReleaseKind::kAnswer, lost}),
               .track = "none"};
  };
  const auto charge = [&](Row row) { return row.query = query, row; };
  ASSERT_TRUE(add(answer(1, "pure", 0.5)));
  EXPECT_FALSE(add(answer(2, "pure", 0.5)));
  ASSERT_TRUE(add(announcement(2)));
  EXPECT_EQ(chain.is_complete().error().where.key, "row 4");
  EXPECT_FALSE(add(answer(2, "pure", 0.5))) << "another question";
  EXPECT_FALSE(add(charge(answer(3, "pure", 0.5)))) << "another round";
  EXPECT_FALSE(add({.kind = "approval", .event = approved, .track = "none"}));
  ASSERT_TRUE(add(charge(answer(2, "pure", 0.5))));
  EXPECT_TRUE(chain.is_complete());
  EXPECT_EQ(chain.dataset(1).spent.pure, 1);
  EXPECT_EQ(chain.restored(lost), 4);
  EXPECT_FALSE(add(answer(3, "zcdp", 0))) << "over the limit of one track nothing is paid";
}

TEST_F(ChainTest, LimitsThatExceedThePromiseAreFoundAlsoWhenTheyWereDeclared) {
  EXPECT_TRUE(chain.is_complete());
  Dataset generous{.id = 1, .name = "loans", .budget = loans.budget};
  generous.budget.pure_max = 100;
  chain.declare(generous);
  ASSERT_TRUE(add({.kind = "budget", .event = budget_event(generous), .track = "none"}));
  EXPECT_EQ(chain.is_complete().error().where.key, "data set 1");
}

}  // namespace chain_test
}  // namespace parley::ledger
