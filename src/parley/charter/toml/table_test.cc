#include "parley/charter/toml/table.h"

#include <gtest/gtest.h>

namespace parley::charter {
namespace table_test {

enum class Colour { kRed, kGreen };

}  // namespace table_test

template <>
inline constexpr auto kNames<table_test::Colour> = names("red", "green");

namespace table_test {

/// Reads one table with `read` and gives its canonical text, or the first error as text and hint.
std::string outcome(const std::string& toml, const Table::Read& read) {
  const Value document = *parse_toml(toml, "t.toml");
  Findings findings;
  Table root(document, "", findings);
  read(root);
  const std::string json = root.finish();
  return findings.first ? describe(*findings.first) + " / " + findings.first->hint : json;
}

struct Colours {
  double epsilon = 0.5;
  Colour colour = Colour::kRed;
  std::string name = "x";
};

std::string colours(const std::string& toml) {
  Colours c;
  return outcome(toml, [&](Table& t) {
    t.required("epsilon", c.epsilon, above(0).up_to(10), "Give epsilon = 1.0.");
    t.optional("colour", c.colour, Anything{}, "Take red.");
    t.optional("name", c.name, any_text, "A name.");
  });
}

TEST(TomlTable, WritesSortedCanonicalTextWithDefaultsFilledIn) {
  EXPECT_EQ(colours("epsilon = 1"), R"({"colour":"red","epsilon":1,"name":"x"})");
  EXPECT_EQ(colours("name = 'a\"b\\'\ncolour = 'green'\nepsilon = 1.0"),
            R"({"colour":"green","epsilon":1,"name":"a\"b\\"})");
  EXPECT_EQ(colours("epsilon = 1e-7"), R"({"colour":"red","epsilon":1e-07,"name":"x"})");
}

TEST(TomlTable, SaysWhatIsWrongWhereAndWhatToDo) {
  EXPECT_EQ(colours("epsilon = -1"),
            "t.toml:1:11: epsilon: epsilon must be above 0, found -1 / Give epsilon = 1.0.");
  EXPECT_EQ(colours("epsilon = 11"),
            "t.toml:1:11: epsilon: epsilon must be at most 10, found 11 / Give epsilon = 1.0.");
  EXPECT_EQ(colours("epsilon = nan"),
            "t.toml:1:11: epsilon: epsilon must be finite, found nan / Give epsilon = 1.0.");
  EXPECT_EQ(colours("epsilon = '1'"),
            "t.toml:1:11: epsilon: epsilon must be a number, found \"1\" / Give epsilon = 1.0.");
  EXPECT_EQ(colours("epsilon = 1\ncolour = 'blue'"),
            "t.toml:2:10: colour: colour must be one of \"red\" | \"green\", found \"blue\" / "
            "Take red.");
}

TEST(TomlTable, UnknownKeysNameTheNearestKnownOne) {
  EXPECT_EQ(colours("epsilom = 1"),
            "t.toml:1:1: epsilom: unknown key epsilom / Did you mean epsilon?")
      << "and not: epsilon is missing";
  EXPECT_EQ(colours("epsilon = 1\ncolor = 'red'"),
            "t.toml:2:1: color: unknown key color / Did you mean colour?");
  EXPECT_EQ(colours("epsilon = 1\nweather = 'red'"),
            "t.toml:2:1: weather: unknown key weather / The keys here are colour, epsilon, name.");
  EXPECT_EQ(colours("name = 'a'").substr(0, 42), "t.toml:1:1: epsilon: epsilon is missing / ");
}

TEST(TomlTable, KeepsTheFirstErrorOnly) {
  EXPECT_EQ(colours("colour = 'blue'\nepsilon = 0\nname = 1").substr(0, 28),
            "t.toml:2:11: epsilon: epsilo");
}

TEST(TomlTable, NamesMembersOfArraysByTheirNumber) {
  const auto read = [](Table& root) {
    root.each("owner", {1, 2}, "Add [[owner]].", [](Table& t) {
      int64_t rows = 0;
      t.required("rows", rows, at_least(1).up_to(1e12), "Give rows = 1.");
    });
  };
  EXPECT_EQ(outcome("[[owner]]\nrows = 1\n[[owner]]\nrows = 2.0\n", read),
            R"({"owner":[{"rows":1},{"rows":2}]})");
  EXPECT_EQ(outcome("[[owner]]\nrows = 1\n[[owner]]\nrows = 2.5\n", read),
            "t.toml:4:8: owner[1].rows: rows must be a whole number, found 2.5 / Give rows = 1.");
  EXPECT_EQ(outcome("", read), "t.toml:1:1: owner: owner is missing / Add [[owner]].");
  EXPECT_EQ(outcome("owner = [1]", read),
            "t.toml:1:9: owner: owner must hold tables, found 1 / Add [[owner]].");
  EXPECT_EQ(outcome("owner = 1", read),
            "t.toml:1:9: owner: owner must be a list of blocks, found 1 / Add [[owner]].");
  EXPECT_EQ(outcome("[[owner]]\n[[owner]]\n[[owner]]", read),
            "t.toml:1:1: owner: owner may appear at most 2 times, found 3 / Add [[owner]].");
}

TEST(TomlTable, OddKeysAndTextsCannotGarbleTheMessage) {
  EXPECT_EQ(colours("epsilon = 1\n\"a\\u0007\" = 1"),
            "t.toml:2:1: \"a\\u0007\": unknown key \"a\\u0007\" / The keys here are "
            "colour, epsilon, name.");
  const std::string message = colours("epsilon = '" + std::string(5000, 'x') + "'");
  EXPECT_LT(message.size(), 200u);
}

}  // namespace table_test
}  // namespace parley::charter
