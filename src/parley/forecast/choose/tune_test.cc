#include "parley/forecast/choose/tune.h"

#include <gtest/gtest.h>

namespace parley::forecast {
namespace complete_test {

constexpr std::string_view kDraft = R"(# a comment
[protocol]
name = "sync"
step = 1.0  # as agreed
[privacy]
mechanism = "laplace"
)";

TEST(Completed, PutsChoicesIntoTheirSectionsWithTheirReasons) {
  const std::vector<Choice> choices = {{"protocol.rounds", "3", "best"},
                                       {"protocol.average", "tail", "its own"},
                                       {"privacy.max_grad_norm", "8", "few are clipped"}};
  EXPECT_EQ(completed(kDraft, {}, choices), R"(# a comment
[protocol]
average = "tail"  # forecast: its own
rounds = 3  # forecast: best
name = "sync"
step = 1.0  # as agreed
[privacy]
max_grad_norm = 8  # forecast: few are clipped
mechanism = "laplace"
)");
}

TEST(Completed, ReplacesWhatTheCommandLineChanges) {
  const std::vector<charter::Override> changes = {{"protocol.step", "0.5"},
                                                  {"network.quorum", "2"}};
  const std::string text = completed(kDraft, changes, {});
  EXPECT_NE(text.find("\nstep = 0.5\n"), std::string::npos);
  EXPECT_NE(text.find("\n[network]\nquorum = 2\n"), std::string::npos);
  EXPECT_EQ(text.find("as agreed"), std::string::npos);
}

TEST(Completed, PutsAChangeOfOneOwnerIntoItsBlock) {
  const std::string owners = "[[owner]]\nname = \"a\"\nepsilon = 1\n[[owner]]\nname = \"b\"\n";
  const std::vector<charter::Override> changes = {{"owner.0.epsilon", "2"},
                                                  {"owner.1.epsilon", "0.5"}};
  EXPECT_EQ(completed(owners, changes, {}),
            "[[owner]]\nname = \"a\"\nepsilon = 2\n[[owner]]\nepsilon = 0.5\nname = \"b\"\n");
  EXPECT_EQ(completed("[charter]\n", changes, {}), "[charter]\n") << "owners in a table";
}

// A line that says that a key is open must not stand beside its value.
TEST(Completed, RemovesMarksOfWhatIsOpen) {
  const std::vector<Choice> choices = {{"protocol.rounds", "3", "best"}};
  EXPECT_EQ(completed("[protocol]\n# OPEN: rounds\n# mine\n[privacy]\n# OPEN: clip\n", {}, choices),
            "[protocol]\nrounds = 3  # forecast: best\n# mine\n[privacy]\n# OPEN: clip\n");
}

TEST(IsGiven, LooksAtTheTextAndAtTheCommandLine) {
  const std::vector<charter::Override> changes = {{"protocol.rounds", "3"}};
  EXPECT_TRUE(*is_given(kDraft, {}, "protocol.step"));
  EXPECT_FALSE(*is_given(kDraft, {}, "protocol.rounds"));
  EXPECT_TRUE(*is_given(kDraft, changes, "protocol.rounds"));
  EXPECT_FALSE(*is_given(kDraft, {}, "network.quorum"));
  EXPECT_TRUE(*is_given("protocol.rounds = 4", {}, "protocol.rounds"));
}

}  // namespace complete_test
}  // namespace parley::forecast
