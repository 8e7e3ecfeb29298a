#include "parley/report/consortium/consortium.h"

#include <gtest/gtest.h>

namespace parley::report::consortium_test {

constexpr const char* kSaid = R"({"version": "9", "since": "today", "learner": "l", "round": 3,
  "rounds": 10, "seconds_left": 70.0, "parties": [
  {"name": "<b>a</b>", "attends": true, "answers": 3, "answer_s": 0.1, "waiting_s": null, "lost": 0},
  {"name": "b", "attends": true, "answers": 3, "answer_s": 9.0, "waiting_s": 2.0, "lost": 2},
  {"name": "c", "attends": false, "answers": 0, "answer_s": null, "waiting_s": null, "lost": 1}]})";

bool has(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

TEST(ConsortiumPage, SaysWhoIsHereWhoIsSlowAndWhatWasSurvived) {
  const std::string page = consortium_live({.said = kSaid});
  EXPECT_TRUE(has(page, "Round 3 of 10 is done; about 70 s are left"));
  EXPECT_TRUE(has(page, "<td>&lt;b&gt;a&lt;/b&gt;</td><td>connected</td>")) << page;
  EXPECT_TRUE(has(page, "<td>b</td><td>connected, slow</td>"));
  EXPECT_TRUE(has(page, "<td>c</td><td>away</td>"));
  EXPECT_TRUE(has(page, "3 lost connections"));
  EXPECT_TRUE(has(page, "There is no model yet"));
}

TEST(ConsortiumPage, WordsOfOthersAreText) {
  learn::Model model;
  model.card.statement = "<script>1</script>";
  model.card.owners = {{.name = "<script>2</script>"}};
  model.card.not_covered = {"<script>3</script>"};
  const std::string page = consortium_page({.charter = "<script>4</script>",
                                            .purpose = "<script>5</script>",
                                            .hash = "<script>",
                                            .silence = "<script>",
                                            .model = model,
                                            .unverified = "<script>"});
  EXPECT_FALSE(has(page, "<script>"));
  EXPECT_TRUE(has(page, "&lt;script&gt;3"));
}

TEST(ConsortiumPage, WhatDoesNotHoldIsSaidSo) {
  learn::Model model;
  protocol::VerifyResult result;
  EXPECT_TRUE(has(consortium_live({.model = model, .verified = result}), "It holds"));
  result.findings.push_back({.what = "<i>changed</i>"});
  const std::string page = consortium_live({.model = model, .verified = result});
  EXPECT_TRUE(has(page, "does NOT hold"));
  EXPECT_FALSE(has(page, "<i>"));
}

TEST(ConsortiumPage, ALearnerOfAnotherVersionIsNoError) {
  EXPECT_TRUE(has(consortium_live({.said = "{}"}), "another version"));
  EXPECT_TRUE(has(consortium_live({.said = "nonsense"}), "another version"));
}

}  // namespace parley::report::consortium_test
