// Every number that follows from a charter, bit for bit, against tests/golden/charter_plans. An
// owner's ledger replays only if they stay as they are.
//
//   PARLEY_WRITE_GOLDEN=1          writes the files anew: a change of what ledgers contain, which
//                                  needs a reason in the commit's message
//   PARLEY_PRINT_PLANS=FOLDER      also writes all plans with all details there: two versions of
//                                  the programme can be compared where a golden file has a hash
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "parley/base/files.h"
#include "support/plan_charters.h"
#include "support/plan_print.h"

namespace parley::forecast {
namespace plan_golden_test {

namespace fs = std::filesystem;
using test::PlanCase, test::PlanFamily, test::PlanText;

/// From $PARLEY_SOURCE, else from a folder above this one.
fs::path source() {
  if (const char* source = std::getenv("PARLEY_SOURCE")) return source;
  for (fs::path folder = fs::current_path();; folder = folder.parent_path())
    if (fs::exists(folder / "examples" / "bank-a.policy.toml") || folder == folder.parent_path())
      return folder;
}

PlanText whole_plan(const PlanCase& one) {
  PlanText text;
  if (!one.charter) {
    text.add("refused", one.charter.error());
    return text;
  }
  const charter::Charter& charter = *one.charter;
  return test::plan_of(charter, charter.pilot ? test::made_rows(charter.schema, 150) : nullptr);
}

/// The file of a family: a line for every charter, and below it its plan. The first is written in
/// full; of others all that their base has, too, is left out, and details are a hash.
std::string family_text(const PlanFamily& family, bool in_full) {
  std::map<std::string, PlanText> plans;
  std::string text = "# What this is: src/parley/forecast/plan_golden_test.cc\n\n";
  for (const PlanCase& one : family.cases) {
    const PlanText& whole = plans[one.name] = whole_plan(one);
    PlanText shown = whole;
    if (!in_full && !one.base.empty() && one.charter) shown = shown.unlike(plans.at(one.base));
    if (!in_full && plans.size() > 1) shown = shown.brief();
    text += "charter: " + one.name + "\n" + shown.text() + "\n";
  }
  return text;
}

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// The first line that differs, with its charter; empty if all are the same.
std::string first_difference(const std::string& golden, const std::string& now) {
  const auto expected = lines_of(golden), found = lines_of(now);
  std::string charter;
  for (size_t i = 0; i < std::max(expected.size(), found.size()); ++i) {
    const std::string was = i < expected.size() ? expected[i] : "(the end)";
    const std::string is = i < found.size() ? found[i] : "(the end)";
    if (was != is)
      return "line " + std::to_string(i + 1) + ", " + charter + "\n  golden: " + was +
             "\n  now:    " + is;
    if (was.starts_with("charter: ")) charter = was;
  }
  return "";
}

const std::vector<PlanFamily>& families() {
  static const std::vector<PlanFamily> all = test::plan_families(source() / "examples");
  return all;
}

TEST(PlanGolden, EveryNumberOfEveryCharterIsWhatItWas) {
  const fs::path folder = source() / "tests" / "golden" / "charter_plans";
  const bool anew = std::getenv("PARLEY_WRITE_GOLDEN") != nullptr;
  const char* const print = std::getenv("PARLEY_PRINT_PLANS");
  for (const PlanFamily& family : families()) {
    const fs::path file = folder / (family.name + ".txt");
    const std::string now = family_text(family, false);
    if (print) write(fs::path(print) / file.filename(), family_text(family, true));
    if (anew) write(file, now);
    const auto golden = read_file(file);
    ASSERT_TRUE(golden) << "set PARLEY_SOURCE to the repository: " << describe(golden.error());
    EXPECT_EQ(first_difference(*golden, now), "") << file;
  }
}

// A charter with a mistake in it would compare nothing but the message.
TEST(PlanGolden, OnlyChartersThatSaySoAreRefused) {
  for (const PlanFamily& family : families())
    for (const PlanCase& one : family.cases) {
      const bool may_be_refused = one.name.find("refused: ") != std::string::npos;
      EXPECT_TRUE(one.charter || may_be_refused)
          << one.name << ": " << (one.charter ? "" : describe(one.charter.error()));
    }
}

// The comparison can fail: one bit of one number is a difference, and it is named.
TEST(PlanGolden, FindsADifferenceInTheLastBit) {
  PlanText before, after;
  before.add("shares.gamma", 0.1);
  after.add("shares.gamma", std::nextafter(0.1, 1));
  const std::string found =
      first_difference("charter: a\n" + before.text(), "charter: a\n" + after.text());
  EXPECT_NE(found.find("charter: a"), std::string::npos) << found;
  EXPECT_NE(found.find("shares.gamma"), std::string::npos) << found;
  std::vector<double> many(20, 0.1), other = many;
  other.back() = std::nextafter(0.1, 1);
  PlanText list, changed;
  list.add("steps", many);
  changed.add("steps", other);
  EXPECT_NE(first_difference(list.text(), changed.text()), "");
  EXPECT_EQ(first_difference(list.text(), list.text()), "");
}

}  // namespace plan_golden_test
}  // namespace parley::forecast
