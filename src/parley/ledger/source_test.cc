// A budget belongs to records, not to a name; and a person's word is kept.
#include <gtest/gtest.h>

#include <algorithm>

#include "parley/ledger/events.h"
#include "parley/ledger/ledger.h"
#include "parley/ledger/read.h"
#include "support/ledgers.h"

namespace parley::ledger {
namespace source_test {

using namespace test;
namespace fs = std::filesystem;

struct SourceTest : testing::Test {
  ~SourceTest() override { fs::remove_all(folder); }
  Ledger open() { return *Ledger::open(file, "bank-a", clock); }
  Result<DatasetId> declare(Ledger& ledger, const std::string& name, const DataSource& source) {
    return ledger.declare(name, pure_budget(1), "record", source);
  }
  DataSource at(const std::string& is, const std::string& records = "") {
    DataSource source{.is = "csv " + is};
    if (!records.empty()) source.digests = {some_hash(records)};
    return source;
  }
  /// Refused, with both names and the command.
  void expect_refused(Ledger& ledger, const std::string& name, const DataSource& source,
                      const std::string& known) {
    const auto declared = declare(ledger, name, source);
    ASSERT_FALSE(declared) << name << " reads " << source.is;
    EXPECT_EQ(declared.error().code, Code::kPolicy);
    EXPECT_NE(declared.error().what.find("'" + name + "'"), std::string::npos);
    EXPECT_NE(declared.error().what.find(source.is), std::string::npos);
    EXPECT_NE(declared.error().what.find(known), std::string::npos) << declared.error().what;
    EXPECT_NE(declared.error().hint.find("parley ledger accept-source POLICY " + name),
              std::string::npos);
  }
  /// One data set, charged.
  Ledger charged() {
    Ledger ledger = open();
    EXPECT_TRUE(
        pay(ledger, *declare(ledger, "loans", at("/loans.csv", "rows")), some_query("job", 1)));
    return ledger;
  }
  const fs::path folder = fresh_folder();
  const fs::path file = folder / "ledger.db";
  StoppedClock clock;
};

TEST_F(SourceTest, ANewNameForKnownRecordsIsNoNewBudget) {
  Ledger ledger = charged();
  const Hash head = ledger.head();
  expect_refused(ledger, "credits", at("/loans.csv", "rows"), "'loans'");
  expect_refused(ledger, "credits", at("/loans.csv", "other rows"), "'loans'");
  expect_refused(ledger, "credits", at("/loans.csv"), "'loans'");
  expect_refused(ledger, "credits", at("/copy.csv", "rows"), "csv /loans.csv of data set 'loans'");
  EXPECT_EQ(ledger.head(), head) << "a refusal records nothing";
  EXPECT_TRUE(declare(ledger, "credits", at("/credits.csv", "other rows")));
}

TEST_F(SourceTest, AKnownNameForOtherRecordsIsRefused) {
  Ledger ledger = charged();
  expect_refused(ledger, "loans", at("/more.csv", "other rows"), "spent on csv /loans.csv");
  expect_refused(ledger, "loans", at("/more.csv"), "spent on csv /loans.csv");
  EXPECT_TRUE(declare(ledger, "loans", at("/loans.csv", "rows")));
}

TEST_F(SourceTest, FilesThatMoveOrGrowStayTheSameRecordsUnderEveryNameTheyHad) {
  Ledger ledger = charged();
  ASSERT_TRUE(declare(ledger, "loans", at("/archive/loans.csv", "rows"))) << "moved";
  ASSERT_TRUE(declare(ledger, "loans", at("/archive/loans.csv", "new rows"))) << "replaced";
  for (const auto& source : {at("/loans.csv", "x"), at("/archive/loans.csv", "y"), at("/z", "rows"),
                             at("/z", "new rows")})
    expect_refused(ledger, "credits", source, "'loans'");
  const auto rows = verify(file)->rows;
  ASSERT_TRUE(declare(ledger, "loans", at("/loans.csv", "rows")));
  EXPECT_EQ(verify(file)->rows, rows) << "what is known is not written again";
}

TEST_F(SourceTest, APersonDecidesByNameAndWithAReasonAndOnce) {
  {
    Ledger ledger = charged();
    ASSERT_TRUE(ledger.accept_source("credits", pure_budget(1), at("/loans.csv", "rows"), "alice",
                                     "another \"population\""));
    const DatasetId credits = *declare(ledger, "credits", at("/loans.csv", "rows"));
    EXPECT_EQ(ledger.spent(credits).pure, 0);
    ASSERT_TRUE(pay(ledger, credits, some_query("job 2", 1)));
    expect_refused(ledger, "third", at("/loans.csv", "rows"), "'loans'");
  }
  Ledger ledger = open();
  EXPECT_TRUE(declare(ledger, "credits", at("/loans.csv", "rows of next month")));
  EXPECT_TRUE(declare(ledger, "loans", at("/loans.csv", "rows of next month")));
  ASSERT_TRUE(ledger.accept_source("loans", pure_budget(1), at("/more.csv"), "bob", ""));
  EXPECT_TRUE(declare(ledger, "loans", at("/more.csv")));
  EXPECT_EQ(ledger.accept_source("loans", pure_budget(1), at("/x"), "bob", "a\nb").error().code,
            Code::kInvalid);
  const auto contents = *read(file);
  const auto accepted =
      std::find_if(contents.rows.begin(), contents.rows.end(),
                   [](const Row& row) { return row.event.find("alice") != std::string::npos; });
  ASSERT_NE(accepted, contents.rows.end());
  EXPECT_EQ(accepted->kind, "budget");
  EXPECT_EQ(budget_from(accepted->event)->reads.reason, "another \"population\"");
}

TEST_F(SourceTest, WhatAPersonAcceptedHoldsWhateverOtherPlacesTheRecordsHaveHad) {
  Ledger ledger = charged();
  ASSERT_TRUE(declare(ledger, "loans", at("/archive/loans.csv", "rows")));
  ASSERT_TRUE(
      ledger.accept_source("credits", pure_budget(1), at("/loans.csv", "rows"), "alice", "others"));
  EXPECT_TRUE(declare(ledger, "credits", at("/loans.csv", "rows")));
}

TEST_F(SourceTest, BeforeTheFirstChargeThePolicyMayChangeItsMind) {
  Ledger ledger = open();
  ASSERT_TRUE(declare(ledger, "loans", at("/wrong.csv", "wrong")));
  ASSERT_TRUE(declare(ledger, "loans", at("/loans.csv", "rows")));
  EXPECT_TRUE(declare(ledger, "others", at("/wrong.csv", "wrong")));
  expect_refused(ledger, "credits", at("/loans.csv", "rows"), "'loans'");
}

TEST_F(SourceTest, TheFingerprintIsKeyedAndNeitherItNorTheSourceIsExported) {
  Ledger ledger = charged();
  const auto contents = *read(file);
  const Reads reads = budget_from(contents.rows[0].event)->reads;
  ASSERT_EQ(reads.source.fingerprints.size(), 1u);
  EXPECT_NE(reads.source.fingerprints[0], some_hash("rows"));
  Ledger twin = *Ledger::open(folder / "twin.db", "bank-a", clock);
  ASSERT_TRUE(declare(twin, "loans", at("/loans.csv", "rows")));
  const Reads other = budget_from(read(folder / "twin.db")->rows[0].event)->reads;
  EXPECT_NE(reads.source.fingerprints, other.source.fingerprints) << "every ledger has its own key";
  const Exported exported = *export_events(file, "");
  EXPECT_EQ(exported.charges, 1u);
  for (const auto& [event, times] : exported.events)
    EXPECT_EQ(event.find("csv"), std::string::npos) << times;
}

TEST_F(SourceTest, OneDatabaseIsAskedAboutWhateverNameATableHasInIt) {
  Ledger ledger = open();
  const auto of = [](std::string is) { return DataSource{.is = std::move(is)}; };
  ASSERT_TRUE(pay(ledger, *declare(ledger, "loans", of("postgres service=x: loans, members")),
                  some_query("job", 1)));
  for (const char* is : {"postgres service=x: loans", "postgres service=x: public.loans",
                         "postgres service=x: a_view", "postgres host=y: z",
                         "postgres service=x: select * from f(1)", "adbc uri=z : loans",
                         "command python3 engine.py : loans"})
    expect_refused(ledger, "credits", of(is), "'loans'");
  EXPECT_TRUE(declare(ledger, "loans", of("postgres service=x: members")));
  expect_refused(ledger, "loans", of("postgres service=x: credits, loans"), "spent on");
  expect_refused(ledger, "loans", of("postgres service=y: loans"), "spent on");
  expect_refused(ledger, "loans", of("postgres service=x: table loans"), "spent on");
  EXPECT_TRUE(declare(ledger, "fraud", of("csv /fraud.csv")));
  expect_refused(ledger, "fraud", of("adbc uri=z : fraud"), "'loans'");
  ASSERT_TRUE(ledger.accept_source("credits", pure_budget(1), of("postgres service=x: credits"),
                                   "alice", "other people"));
  ASSERT_TRUE(pay(ledger, *declare(ledger, "credits", of("postgres service=x: credits")),
                  some_query("job 2", 1)));
  expect_refused(ledger, "credits", of("postgres service=x: credits, loans"), "spent on");
}

TEST_F(SourceTest, OneFileIsAskedAboutWhateverIsReadOfIt) {
  Ledger ledger = open();
  const auto of = [](std::string is, std::vector<Hash> digests = {}) {
    return DataSource{.is = std::move(is), .digests = std::move(digests)};
  };
  const Hash one = some_hash("one"), two = some_hash("two");
  ASSERT_TRUE(pay(ledger, *declare(ledger, "loans", of("sqlite /a.db: loans, one", {one, two})),
                  some_query("job", 1)));
  for (const auto& source :
       {of("sqlite /a.db: other"), of("csv /a.db"), of("sqlite /a.db: select ': ' from f(1)"),
        of("sqlite /b.db: other, members", {two, some_hash("members")}), of("csv /c.csv", {one})})
    expect_refused(ledger, "credits", source, "'loans'");
  EXPECT_TRUE(declare(ledger, "loans", of("sqlite /b.db: credits", {one}))) << "moved, renamed";
  ASSERT_TRUE(declare(ledger, "parts", of("parquet /srv/parts/2018*.parquet")));
  for (const char* is : {"parquet /srv/parts/*.parquet", "parquet /srv/parts/2018-1.parquet",
                         "parquet /srv/*/2018-1.parquet", "csv /srv/parts/old/a"})
    expect_refused(ledger, "credits", of(is), "'parts'");
  EXPECT_TRUE(declare(ledger, "credits", of("parquet /srv/others/*.parquet")));
}

/// Rows with right hashes.
struct Written {
  Chain chain{Hash{}};
  Result<void> add(Row row) {
    row.id = chain.size() + 1;
    row.previous = chain.head();
    row.hash = hash_of(row);
    TRY(chain.accepts(row));
    chain.extend(row);
    return {};
  }
  Result<void> budget(int64_t id, Reads reads) {
    const Dataset data{.id = id,
                       .name = std::to_string(id),
                       .budget = pure_budget(1),
                       .unit = "",
                       .reads = std::move(reads)};
    chain.declare(data);
    return add({.kind = "budget", .dataset = id, .event = budget_event(data), .track = "none"});
  }
};

TEST_F(SourceTest, WhatOlderVersionsAllowedStaysAllowedAndIsRecognised) {
  Written old;  // That compared texts.
  ASSERT_TRUE(old.budget(1, {{"sqlite /a.db: main.loans", {}}}));
  ASSERT_TRUE(old.budget(2, {{"sqlite /a.db: one", {}}}));
  ASSERT_TRUE(old.add({.kind = "answer",
                       .dataset = 2,
                       .charter = some_hash("job"),
                       .round = 1,
                       .event = "{}",
                       .track = "pure",
                       .cost = 0.1}));
  const std::vector<Hash> now = {some_hash("rows of one")};
  EXPECT_TRUE(old.chain.may_read("1", {"sqlite /a.db: main.loans", {some_hash("rows")}}));
  EXPECT_TRUE(old.chain.may_read("2", {"sqlite /a.db: one", now}));
  EXPECT_FALSE(old.chain.may_read("2", {"sqlite /a.db: loans, one", now}));
  EXPECT_FALSE(old.chain.may_read("3", {"sqlite /a.db: loans", {}}));
  EXPECT_TRUE(old.budget(2, {{"sqlite /a.db: one", now}}));
  EXPECT_FALSE(old.chain.may_read("3", {"sqlite /b.db: x", now}));
}

TEST_F(SourceTest, ARowThatNoPersonDecidedIsRefusedAlsoWhenItsHashIsRight) {
  Written rows;
  ASSERT_TRUE(rows.budget(1, {{"csv a", {}}}));
  EXPECT_EQ(rows.budget(2, {{"csv a", {}}}).error().what,
            "gives a data set a source that only a person may give it");
  EXPECT_TRUE(rows.budget(2, {{"csv a", {}}, "alice", "they are not"}));
}

TEST_F(SourceTest, WhatAPersonWithdrewIsNotPaidAnyMoreUntilItIsApprovedAgain) {
  Ledger ledger = open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(1));
  using What = Decision::What;
  const auto decide = [&](What what, std::string reason = "") {
    return ledger.decide(loans, some_hash("job"),
                         {.what = what, .by = "alice", .at = "today", .reason = std::move(reason)});
  };
  ASSERT_TRUE(decide(What::kApproved));
  const Bytes first = bytes_of(*pay(ledger, loans, some_query("job", 1)));
  ASSERT_TRUE(decide(What::kWithdrawn, "the \"contract\" ended"));
  EXPECT_FALSE(ledger.is_approved(some_hash("job")));
  const Error error = pay(ledger, loans, some_query("job", 2)).error();
  EXPECT_EQ(error.code, Code::kPolicy);
  EXPECT_EQ(error.what, "this charter was withdrawn by alice: the \"contract\" ended");
  EXPECT_EQ(bytes_of(*pay(ledger, loans, some_query("job", 1))), first) << "it has left already";
  EXPECT_TRUE(pay(ledger, loans, some_query("other job", 1)));
  EXPECT_FALSE(read(file)->chain.is_allowed(some_hash("job"))) << "also for who reads it again";
  ASSERT_TRUE(decide(What::kRefused));
  EXPECT_FALSE(pay(ledger, loans, some_query("job", 2)));
  ASSERT_TRUE(decide(What::kApproved, "a new one"));
  EXPECT_TRUE(pay(ledger, loans, some_query("job", 2)));
  EXPECT_TRUE(verify(file));
}

}  // namespace source_test
}  // namespace parley::ledger
