// A child process may end or say anything: the owner goes on and knows what was wrong.
#include "parley/data/sql/engine.h"

#include <gtest/gtest.h>

#include <sstream>

namespace parley::data::sql::engine_test {
namespace {

/// A child that runs a shell script.
Result<std::shared_ptr<Engine>> start(const std::string& script) {
  return Engine::start({.command = {"/bin/sh", "-c", script}, .query = "select 1"});
}

const std::string kColumns = R"(read x; echo '{"columns":[{"name":"a","kind":"real"}]}'; )";

TEST(Engine, AsksAndIsAnswered) {
  const auto engine = start(kColumns + R"(read x; echo "$x" >&2; echo '{"numbers":["3","-7"]}')");
  ASSERT_TRUE(engine) << engine.error().what;
  ASSERT_EQ((*engine)->columns().size(), 1U);
  EXPECT_EQ((*engine)->columns()[0].name, "a");
  EXPECT_EQ((*engine)->columns()[0].kind, Kind::kReal);
  const Statement statement{.text = "x", .parameters = {Theta{0}, Value("\xff")}, .numbers = 1};
  const double theta = 1;
  EXPECT_EQ(*(*engine)->ask(statement, {&theta, 1}), (std::vector<int64_t>{3, -7}));
  for (int again = 0; again < 2; ++again) {  // It has ended.
    const auto found = (*engine)->ask(statement, {&theta, 1});
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, Code::kFailed);
  }
}

TEST(Engine, AChildThatSaysSomethingElseIsAnError) {
  for (const char* said :
       {"x", "[]", "{}", "\"\"", R"({"columns":1})", R"({"columns":[1]})",
        R"({"columns":[{"kind":3}]})", R"({"columns":[{"name":"a","kind":"?"}]})",
        R"({"error":"no"})", R"({"error":"no","invalid":"x"})", ""})
    EXPECT_FALSE(start(std::string("read x; echo '") + said + "'")) << said;
  for (const char* said :
       {R"({"numbers":[1,2]})", R"({"numbers":["1"]})", R"({"numbers":["1","x"]})",
        R"({"numbers":["1","2","3"]})", R"({"numbers":["1","99999999999999999999"]})"}) {
    const auto engine = start(kColumns + "read x; echo '" + said + "'");
    ASSERT_TRUE(engine);
    EXPECT_FALSE((*engine)->ask({.text = "x", .numbers = 1}, {})) << said;
  }
  EXPECT_FALSE(start("exit 1"));
  EXPECT_FALSE(Engine::start({.command = {"/no/such/program"}}));
}

TEST(Engine, AChildThatHangsIsGivenUpAndStaysSo) {
  const auto silent = Engine::start({.command = {"/bin/sh", "-c", "exec sleep 600"},
                                     .query = "select 1",
                                     .patience = std::chrono::seconds(1)});
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().where.key, "limits.database_s");
  const auto hangs = Engine::start({.command = {"/bin/sh", "-c", kColumns + "exec sleep 600"},
                                    .query = "select 1",
                                    .patience = std::chrono::seconds(1)});
  ASSERT_TRUE(hangs) << describe(hangs.error());
  const auto found = (*hangs)->ask({.text = "x", .numbers = 1}, {});
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().what.find("has said nothing for 1 s"), std::string::npos);
  EXPECT_FALSE((*hangs)->ask({.text = "x", .numbers = 1}, {}));
}

TEST(Engine, AQueryAtFaultIsTheOwnersToMend) {
  const auto refused = start(R"(read x; echo '{"error":"no table","invalid":true}')");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalid);
  EXPECT_EQ(refused.error().what, "no table");
}

TEST(Engine, TheChildSaysWhatItCannotDo) {
  std::istringstream in(R"({"parley_engine":1,"dialect":"spark"})"
                        "\n"
                        R"({"parley_engine":1,"dialect":"sqlite","path":"/no/such/file"})"
                        "\nnonsense\n");
  std::ostringstream out;
  serve_engine(in, out);
  EXPECT_NE(out.str().find("not spark"), std::string::npos);
  EXPECT_NE(out.str().find("cannot read"), std::string::npos);
}

}  // namespace
}  // namespace parley::data::sql::engine_test
