#include "parley/report/page/web.h"

#include <gtest/gtest.h>

namespace parley::report::web_page_test {

TEST(WebPage, NothingIsInlineOrFromElsewhere) {
  const std::string page = web_page("<b>title</b>", "\"><script>", "<p>body</p>");
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_EQ(page.find("<script>"), std::string::npos);
  EXPECT_EQ(page.find("style="), std::string::npos);
  EXPECT_EQ(page.find("//"), std::string::npos);  // no address of another host
  EXPECT_NE(page.find("<p>body</p>"), std::string::npos);
  EXPECT_EQ(web_style().find("url("), std::string::npos);
}

TEST(WebPage, ANoticeIsText) {
  EXPECT_NE(web_notice("a", "<i>b</i>").find("&lt;i&gt;b"), std::string::npos);
}

TEST(WebPage, LinksCarryAnyText) {
  EXPECT_EQ(url_escaped("a b&c=\"%\xff"), "a%20b%26c%3D%22%25%FF");
}

}  // namespace parley::report::web_page_test
