#include "parley/learn/vertical/model_part.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/ledgers.h"

namespace parley::learn {
namespace model_part_test {

/// Three parties with one column each, and the keys that each two share.
struct Parties {
  std::vector<PartOfModel> parts{3};
  std::vector<std::string> files{};
  Manifest manifest{.name = "columns", .charter = Hash{9}};
  data::AnyRows rows = made_rows();

  Parties() {
    const std::string names[] = {"a", "b", "c"};
    for (size_t m = 0; m < 3; ++m) {
      PartOfModel& part = parts[m];
      part.model.theta = {.5 + double(m)};
      part.model.box = 4;
      part.model.schema.columns = {{.name = names[m], .low = -1, .high = 1}};
      part.owner = names[m];
      part.id = "person";
      part.charter = Hash{9};
      part.row_norm = 1, part.ball = 4, part.bits = 20, part.fraction = 24;
      part.salt = Secret32{uint8_t(m)};
      for (size_t k = 0; k < 3; ++k)
        if (k != m)
          part.masks[names[k]] = Secret32{uint8_t(1 + std::min(m, k) + 3 * std::max(m, k))};
      files.push_back(to_json(part));
      manifest.parts.push_back({names[m], sha256(as_bytes(files[m]))});
    }
  }
  static data::AnyRows made_rows() {
    auto rows = std::make_shared<data::Rows>(1);
    for (const double z : {.25, -.5, .75}) rows->add(std::vector{z}, 0);
    return std::shared_ptr<const data::Rows>(rows);
  }
  MaskedScores scores(size_t m, const std::string& query = "q") const {
    return masked_scores(parts[m], rows, {"p1", "p2", "p3"}, query, manifest.parts[m].sha256);
  }
};

TEST(ModelPart, FilesComeBack) {
  const Parties all;
  for (const std::string& file : all.files) {
    const auto part = part_from_json(file, "part.json");
    ASSERT_TRUE(part) << describe(part.error());
    EXPECT_EQ(to_json(*part), file);
  }
  EXPECT_EQ(*manifest_from_json(to_json(all.manifest), "manifest.json"), all.manifest);
  EXPECT_EQ(*scores_from_json(to_json(all.scores(1)), "b.scores"), all.scores(1));
  EXPECT_FALSE(part_from_json(to_json(all.manifest), "part.json"));
  EXPECT_FALSE(manifest_from_json("{}", "manifest.json"));
  EXPECT_FALSE(scores_from_json("{\"format\":\"parley.scores/1\"}", "b.scores"));
}

TEST(ModelPart, OnlyTheSumOverAllPartiesOpens) {
  const Parties all;
  const std::vector<MaskedScores> every = {all.scores(2), all.scores(0), all.scores(1)};
  const auto sums = opened(all.manifest, every);
  ASSERT_TRUE(sums) << describe(sums.error());
  const double z[] = {.25, -.5, .75};
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR((*sums)[i], z[i] * (.5 + 1.5 + 2.5), 1e-5);
  for (size_t m = 0; m < 3; ++m) {  // A party's words are far from its scores.
    const auto words = all.scores(m).words;
    for (const uint64_t word : words) EXPECT_GT(std::fabs(double(int64_t(word))), 0x1p32);
  }
}

/// Else the difference of two predictions under one name is the difference of this party's scores.
TEST(ModelPart, MasksAreBoundToTheRecordsAsked) {
  const Parties all;
  const auto other =
      masked_scores(all.parts[0], all.rows, {"p1", "p2", "p4"}, "q", all.manifest.parts[0].sha256);
  EXPECT_NE(all.scores(0).words, other.words);
  EXPECT_NE(all.scores(0).words[0], other.words[0]) << "not even of a record that both ask about";
}

TEST(ModelPart, ANameIsNotGivenToTwoPredictions) {
  const Parties all;
  const auto part = test::fresh_folder() / "part.json";
  ASSERT_TRUE(keep_query(part, all.scores(0)));
  EXPECT_TRUE(keep_query(part, all.scores(0))) << "the same again";
  EXPECT_TRUE(keep_query(part, all.scores(0, "r")));
  auto changed = all.scores(0);  // The same ids, other data.
  ++changed.words[0];
  const auto refused = keep_query(part, changed);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kPolicy);
  EXPECT_NE(refused.error().what.find("'q'"), std::string::npos);
}

TEST(ModelPart, AMissingPartyAnotherPartOtherRecordsOrAnotherNameAreRefused) {
  const Parties all;
  const auto refused = [&](std::vector<MaskedScores> parties) {
    const auto sums = opened(all.manifest, parties);
    return sums ? std::string("opened") : sums.error().what;
  };
  EXPECT_EQ(refused({all.scores(0), all.scores(1)}), "the scores of c are missing");
  auto other_part = all.scores(2);
  other_part.part = Hash{};
  EXPECT_EQ(refused({all.scores(0), all.scores(1), other_part}),
            "c has used another part than the manifest names");
  auto other_ids = all.scores(2);
  other_ids.ids[0] = "p9";
  EXPECT_NE(refused({all.scores(0), all.scores(1), other_ids}).find("other records"),
            std::string::npos);
  EXPECT_NE(refused({all.scores(0), all.scores(1), all.scores(2, "r")}).find("another query"),
            std::string::npos);
}

}  // namespace model_part_test
}  // namespace parley::learn
