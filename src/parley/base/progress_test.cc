#include "parley/base/progress.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

namespace parley {
namespace progress_test {

/// What a Progress writes while it advances `steps` times by `by`.
std::string shown(ProgressStyle style, uint64_t total, int steps, uint64_t by = 1) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  {
    Progress progress(style, "train", total, file.get());
    for (int i = 0; i < steps; ++i) progress.advance(by);
  }
  std::rewind(file.get());
  std::string text;
  for (int c; (c = std::fgetc(file.get())) != EOF;) text += static_cast<char>(c);
  return text;
}

TEST(Progress, ElsewhereThanOnATerminalItIsOneLinePerTenth) {
  std::string ten_lines;
  for (int percent = 10; percent <= 100; percent += 10)
    ten_lines += "train: " + std::to_string(percent) + " %\n";
  EXPECT_EQ(shown(ProgressStyle::kLines, 1000, 1000), ten_lines);
  EXPECT_EQ(shown(ProgressStyle::kLines, 10, 10), ten_lines);
  EXPECT_EQ(shown(ProgressStyle::kLines, 3, 3), "train: 30 %\ntrain: 60 %\ntrain: 100 %\n");
}

TEST(Progress, NeverSaysMoreThanAHundred) {
  EXPECT_EQ(shown(ProgressStyle::kLines, 2, 3, 2), "train: 100 %\n");
  EXPECT_EQ(shown(ProgressStyle::kLines, 0, 1), "train: 100 %\n") << "a total of nothing is done";
}

TEST(Progress, QuietIsSilent) { EXPECT_EQ(shown(ProgressStyle::kQuiet, 10, 10), ""); }

TEST(Progress, ABarIsWipedAtTheEnd) {
  const std::string text = shown(ProgressStyle::kBar, 10, 10);
  EXPECT_TRUE(text.starts_with("\rtrain [")) << text;
  EXPECT_TRUE(text.ends_with("\r\033[K")) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(Progress, TheStyleFollowsTheStream) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  EXPECT_EQ(progress_style(false, file.get()), ProgressStyle::kLines);
  EXPECT_EQ(progress_style(true, file.get()), ProgressStyle::kQuiet);
}

}  // namespace progress_test
}  // namespace parley
