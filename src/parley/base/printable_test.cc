#include "parley/base/printable.h"

#include <gtest/gtest.h>

namespace parley {
namespace printable_test {

TEST(Printable, LeavesWhatPeopleRead) {
  for (const char* text : {"", "bank-a", "Kreditinstitut Möwe", "銀行", "a \"b\" \\ c", "🏦"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, LetsNobodyMoveTheCursorOrBeginALine) {
  EXPECT_EQ(printable("a\nb\r\x1b[2J\x7f"), "a\\u000ab\\u000d\\u001b[2J\\u007f");
  EXPECT_EQ(printable("\xc2\x9b"  // CSI in one character
                      "31m"),
            "\\u009b31m");
  EXPECT_EQ(printable("\x9b"
                      "31m\xff"),
            "\\x9b31m\\xff")
      << "what is not UTF-8 is a control to some terminals";
  EXPECT_EQ(printable("yes\xe2\x80\xaeno"), "yes\\u202eno") << "turns the direction";
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\u0000");
}

TEST(Printable, TakesNoLongFormsAndNoHalvesForUtf8) {
  EXPECT_EQ(printable("\xc0\x8a"), "\\xc0\\x8a");           // a newline in two bytes
  EXPECT_EQ(printable("\xe2\x80"), "\\xe2\\x80");           // cut off
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair
}

TEST(Printable, TwiceIsOnce) {
  const std::string once = printable("a\n\xff\xe2\x80\xae\\u0000");
  EXPECT_EQ(printable(once), once);
}

TEST(Printable, IsCutBetweenCharacters) {
  EXPECT_EQ(printable("ää", 3), "ä");
  EXPECT_EQ(printable(std::string(600, 'x')).size(), 500u);
}

TEST(InQuotes, EndsWhereItEnds) {
  EXPECT_EQ(in_quotes("a\" and \"b\\\n"), "\"a\\\" and \\\"b\\\\\\u000a\"");
  EXPECT_EQ(in_quotes(std::string(80, 'x')), "\"" + std::string(60, 'x') + "...\"");
}

TEST(PrintableLines, KeepsOurOwnLines) {
  EXPECT_EQ(printable_lines("one\ntwo\x1b\n"), "one\ntwo\\u001b\n");
}

}  // namespace printable_test
}  // namespace parley
