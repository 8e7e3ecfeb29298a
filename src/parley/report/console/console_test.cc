#include "parley/report/console/console.h"

#include <gtest/gtest.h>

namespace parley::report {
namespace {

constexpr const char* kHostile = "\"onx=1><script>alert(1)</script>'<b>";

/// Every text that somebody else can set: authors of charters, other people of the owner, learners.
Console hostile() {
  ConsoleCharter charter{.file = kHostile, .id = std::string(64, 'a'), .purpose = kHostile};
  charter.epsilon = 1;
  charter.preflight.name = charter.preflight.learner = charter.preflight.address = kHostile;
  charter.preflight.dataset = charter.preflight.noise = charter.word = kHostile;
  charter.preflight.rule = 1, charter.preflight.answers = 10, charter.preflight.answered = 4;
  charter.preflight.obstacles = {{Code::kFailed, kHostile, kHostile}};
  charter.job = {.state = "running", .reason = kHostile, .received = 1500, .sent = 2'500'000};
  charter.job->seconds_per_answer = 20;
  ConsoleCharter broken{.file = kHostile, .problem = kHostile};
  ConsoleCharter ended = charter;
  ended.job->state = "ended early";
  return {.owner = kHostile,
          .person = kHostile,
          .token = kHostile,
          .daemon = kHostile,
          .warnings = {kHostile},
          .charters = {charter, broken, ended},
          .datasets = {{.id = 1, .name = kHostile, .unit = kHostile}}};
}

TEST(Console, WordsOfOthersAreText) {
  const Console console = hostile();
  const ConsoleCharter& charter = console.charters.front();
  ledger::Contents found;
  found.rows.push_back({.id = 7, .at = kHostile, .kind = kHostile, .dataset = 1});
  found.matched = 300;
  const LedgerSearch search{.words = kHostile};
  for (const std::string& page :
       {overview_page(console), overview_live(console), charter_live(charter),
        charter_page(console, charter, kHostile, {{kHostile, kHostile}}),
        value_page(console, charter), value_figures(kHostile),
        value_figures(Error{Code::kFailed, kHostile, kHostile}), left_page(console, found, search),
        policy_page(console, kHostile), problem_page(console, kHostile, kHostile)}) {
    EXPECT_EQ(page.find("<script>"), std::string::npos) << page;
    EXPECT_EQ(page.find("<b>"), std::string::npos) << page;
    EXPECT_EQ(page.find("\"onx"), std::string::npos) << page;  // the end of an attribute
  }
}

TEST(Console, ShowsHowFarAJobIs) {
  const std::string live = charter_live(hostile().charters.front());
  EXPECT_NE(live.find("4 of 10 answers were given"), std::string::npos) << live;
  EXPECT_NE(live.find("1.5 kB came and 2.5 MB went"), std::string::npos) << live;
  EXPECT_NE(live.find("About 2 min 0 s are left"), std::string::npos) << live;
}

TEST(Console, EpsilonInWordsIsNeverBelowThePromise) {
  EXPECT_NE(in_words(1, 0).find("at most 73.2 %"), std::string::npos) << in_words(1, 0);
  EXPECT_NE(in_words(1, 1e-6).find("except with probability 1e-06"), std::string::npos);
  EXPECT_NE(in_words(40, 0).find("certainty"), std::string::npos);
}

TEST(Console, SearchKnowsNoCase) {
  const Console console{.charters = {}};
  const ledger::Row row{.id = 12, .at = "2026-11-18T09:00:00Z", .kind = "Answer"};
  EXPECT_TRUE(wants(console, {.words = "aNSWER"}, row));
  EXPECT_TRUE(wants(console, {.words = ""}, row));
  EXPECT_FALSE(wants(console, {.words = "budget"}, row));
  EXPECT_FALSE(wants(console, {.before = 12}, row));
}

}  // namespace
}  // namespace parley::report
