#include "parley/net/web/http.h"

#include <gtest/gtest.h>

namespace parley::net::http_test {

TEST(Http, TakesAFormApart) {
  const auto form = parse_form("a=1&b=two+words%21&&c&a=2&d==");
  ASSERT_TRUE(form);
  EXPECT_EQ(form->text("a"), "1");
  EXPECT_EQ(form->count("a"), 2u);
  EXPECT_EQ(form->text("b"), "two words!");
  EXPECT_EQ(form->get("c"), "");
  EXPECT_EQ(form->text("d"), "=");
  EXPECT_FALSE(form->get("e"));
}

TEST(Http, RefusesBrokenForms) {
  for (const char* body : {"a=%", "a=%4", "a=%zz", "%00=1", "a=b%00c"})
    EXPECT_FALSE(parse_form(body)) << body;
  EXPECT_FALSE(parse_form(std::string_view("a=b\0c", 5)));
  EXPECT_TRUE(parse_form("a&b&c", 3));
  EXPECT_FALSE(parse_form("a&b&c&d", 3));
}

}  // namespace parley::net::http_test
