// Every mistake must be flagged; a certificate is wrong with probability at most 1e-6.
#include "studies/planted/planted.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "parley/report/audit.h"

namespace parley::planted {
namespace planted_test {

std::vector<std::string_view> planted_names() {
  std::vector<std::string_view> names;
  for (const Bug& each : bugs()) names.push_back(each.name);
  return names;
}

class PlantedBug : public testing::TestWithParam<std::string_view> {};

INSTANTIATE_TEST_SUITE_P(Audit, PlantedBug, testing::ValuesIn(planted_names()),
                         [](const auto& bug) {
                           std::string name(bug.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(PlantedBug, IsFlagged) {
  const Bug& bug = *std::find_if(bugs().begin(), bugs().end(),
                                 [](const Bug& each) { return each.name == GetParam(); });
  const auto target = target_of(bug.name);
  ASSERT_TRUE(target) << describe(target.error());
  const auto found =
      audit::run(*target, audit::Method::kTwoWorld, {.runs = bug.runs, .alpha = 1e-6});
  ASSERT_TRUE(found) << describe(found.error());
  EXPECT_LE(target->claimed.epsilon, 1);
  EXPECT_FALSE(found->passes()) << report::to_text(*found);
  EXPECT_NE(report::to_text(*found).find("NOT PRIVATE"), std::string::npos);
  RecordProperty("certified", std::to_string(found->found.epsilon()));
}

TEST(PlantedBugs, OfAnUnknownNameSayWhereToLook) {
  EXPECT_NE(target_of("magic").error().hint.find("--list"), std::string::npos);
}

}  // namespace planted_test
}  // namespace parley::planted
