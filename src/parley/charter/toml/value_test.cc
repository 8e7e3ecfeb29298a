#include "parley/charter/toml/value.h"

#include <gtest/gtest.h>

namespace parley::charter {
namespace value_test {

const Value& member(const Value& table, std::string_view key) {
  return table.get<Value::Members>()->find(key)->second;
}

std::string repeat(std::string_view piece, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += piece;
  return text;
}

TEST(TomlValue, KnowsWhereItWasWritten) {
  const Value document = *parse_toml("# one\n[table]\nkey  = 1.5\n", "a.toml");
  const Value& value = member(member(document, "table"), "key");
  EXPECT_EQ(*value.get<double>(), 1.5);
  EXPECT_EQ(value.where("k").file, "a.toml");
  EXPECT_EQ(value.place.line, 3);
  EXPECT_EQ(value.place.column, 8);
  EXPECT_EQ(value.key_place.column, 1);
}

TEST(TomlValue, SyntaxErrorsNameFileLineAndColumn) {
  const auto document = parse_toml("a = 1\nb = [1, \n", "a.toml");
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().where.file, "a.toml");
  EXPECT_GE(document.error().where.line, 2);
  EXPECT_GT(document.error().where.column, 0);
  EXPECT_FALSE(document.error().what.empty());
}

TEST(TomlValue, DeepNestingIsAnErrorInEveryDisguise) {
  const std::string dots = repeat("a.", 100'000) + "a", brackets = repeat("[", 100'000);
  const std::string quoted_dots = repeat("\"a,[\".", 100'000) + "a";
  for (const std::string& text :
       {"[" + dots + "]", dots + " = 1", "x = { " + dots + " = 1 }", "x = " + brackets,
        quoted_dots + " = 1", "x = [ \"\"\"a\"\"\"\", { " + dots + " = 1 } ]",
        "x = [ '''a''''', { " + dots + " = 1 } ]", "x = \"\\\\\"\n" + dots + " = 1",
        "x = [\n" + repeat("{ a.a.a.a.a.a.a.a.a.a = [\n", 5'000)}) {
    const auto document = parse_toml(text, "deep.toml");
    ASSERT_FALSE(document);
    EXPECT_EQ(document.error().what, "nested more than 16 deep") << text.substr(0, 40);
  }
  EXPECT_TRUE(parse_toml("x = '" + dots + "' # " + dots, "text.toml")) << "text is not nesting";
}

TEST(TomlValue, HugeFilesAreRefusedBeforeTheyAreRead) {
  EXPECT_FALSE(parse_toml(std::string(kFileBytesMax + 1, '#'), "large.toml"));
  EXPECT_FALSE(parse_toml("x = [" + repeat("1,", 600'000) + "]", "many.toml"));
}

TEST(Override, ReadsTomlAndTakesAnythingElseAsText) {
  Value document = *parse_toml("[a]\nx = 1\n[[b]]\ny = 1\n[[b]]\ny = 2\n", "a.toml");
  for (const Override& change : std::vector<Override>{{"a.x", "2.5"},
                                                      {"a.word", "gaussian"},
                                                      {"a.text", "\"1\""},
                                                      {"b.1.y", "[1, 2]"},
                                                      {"new.table.z", "true"},
                                                      {"a.two", "1\nb = 2"}})
    ASSERT_TRUE(apply(change, document)) << change.key;
  const Value& a = member(document, "a");
  EXPECT_EQ(*member(a, "x").get<double>(), 2.5);
  EXPECT_EQ(*member(a, "word").get<std::string>(), "gaussian");
  EXPECT_EQ(*member(a, "text").get<std::string>(), "1");
  EXPECT_EQ(*member(a, "two").get<std::string>(), "1\nb = 2") << "no second key slips in";
  const Value& second = (*member(document, "b").get<Value::Items>())[1];
  EXPECT_EQ(member(second, "y").get<Value::Items>()->size(), 2u);
  EXPECT_TRUE(*member(member(member(document, "new"), "table"), "z").get<bool>());
  EXPECT_EQ(*member(a, "x").file, "--set a.x=2.5");
}

TEST(Override, RefusesWhatNamesNoKey) {
  Value document = *parse_toml("[[b]]\ny = 1\n", "a.toml");
  for (const char* key : {"", ".", "b.", "b.1.y", "b.-1.y", "b.x", "b.0.y.z", "b.0x.y"}) {
    const auto result = apply({key, "1"}, document);
    ASSERT_FALSE(result) << key;
    EXPECT_EQ(result.error().where.key, key);
    EXPECT_FALSE(result.error().hint.empty());
  }
  EXPECT_FALSE(apply({repeat("a.", 100'000) + "a", "1"}, document));
}

}  // namespace value_test
}  // namespace parley::charter
