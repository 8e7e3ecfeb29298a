#include "parley/base/memory/pages.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "parley/base/files.h"

namespace parley {
namespace pages_test {

namespace fs = std::filesystem;

TEST(Pages, KeepsItsNumbersWhileItGrows) {
  Pages<double> pages;
  for (int i = 0; i < 1'000'000; ++i) pages.push_back(i);  // 8 MB: small, then huge pages.
  ASSERT_EQ(pages.size(), 1'000'000u);
  for (int i = 0; i < 1'000'000; i += 997) EXPECT_EQ(pages[size_t(i)], i);
}

TEST(Pages, NewNumbersAreZeroAlsoAfterShrinking) {
  Pages<int> pages;
  pages.resize(3);
  pages[2] = 7;
  pages.resize(1);
  pages.resize(3);
  EXPECT_EQ(pages[2], 0);
}

TEST(Pages, CopiesAreTheirOwnAndMovesLeaveNothing) {
  Pages<int> pages;
  pages.push_back(1);
  Pages<int> copy = pages;
  copy[0] = 2;
  EXPECT_EQ(pages[0], 1);
  const Pages<int> moved = std::move(pages);
  EXPECT_EQ(moved[0], 1);
  EXPECT_EQ(pages.size(), 0u);  // NOLINT: that it is empty is the point.
  copy = moved;
  EXPECT_EQ(copy[0], 1);
  EXPECT_EQ(Pages<int>(Pages<int>()).size(), 0u);
}

class PagesInAFile : public testing::Test {
 protected:
  static constexpr int kNumbers = 3'000'000;  // 24 MB: several windows of the file

  PagesInAFile()
      : folder_(fs::path(testing::TempDir()) /
                ("parley_pages_" + std::to_string(getpid()) + "_" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
  }
  ~PagesInAFile() override { fs::remove_all(folder_); }

  std::shared_ptr<MemoryUse> use(uint64_t bytes) const {
    return std::make_shared<MemoryUse>(MemoryUse{{bytes, folder_}});
  }
  fs::path folder_;
};

TEST_F(PagesInAFile, HoldWhatPagesInMemoryHold) {
  const auto shared = use(1 << 20);
  Pages<double> in_file(shared), in_memory;
  for (int i = 0; i < kNumbers; ++i) in_file.push_back(i), in_memory.push_back(i);
  in_file.resize(kNumbers + 1000), in_memory.resize(kNumbers + 1000);
  ASSERT_TRUE(in_file.in_file());
  EXPECT_FALSE(in_memory.in_file());
  in_file.release(0, in_file.size());
  ASSERT_EQ(in_file.size(), in_memory.size());
  EXPECT_EQ(std::memcmp(in_file.data(), in_memory.data(), in_memory.size() * sizeof(double)), 0);
  in_file[5] = -1;
  in_file.release(0, 100);
  const Pages<double> moved = std::move(in_file), copy = moved;
  EXPECT_EQ(moved[5], -1) << "what is written after a release is not lost";
  EXPECT_EQ(copy[kNumbers - 1], kNumbers - 1);
  EXPECT_FALSE(copy.in_file());
}

TEST_F(PagesInAFile, LeaveNoNameInTheFolder) {
  Pages<double> pages(use(4096));
  pages.resize(100'000);
  ASSERT_TRUE(pages.in_file());
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(PagesInAFile, AreOnlyWhatDoesNotFitAllTogether) {
  const auto shared = use(8 << 20);
  Pages<double> small(shared), large(shared);
  small.resize(1000);
  large.resize(300'000);
  large.resize(700'000);  // 5.6 MB, although twice the room before would be too much
  EXPECT_FALSE(large.in_file());
  large.resize(1'100'000);
  EXPECT_TRUE(large.in_file());
  EXPECT_FALSE(small.in_file());
  EXPECT_LE(shared->bytes, 8u << 20);
  small.resize(10'000);
  EXPECT_FALSE(small.in_file()) << "what moved out no longer counts";
}

TEST_F(PagesInAFile, SayWhenTheFileCannotGrow) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit small{8 << 20, old.rlim_max};  // As a full disk, without filling one.
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto shared = use(1 << 20);
  Pages<double> pages(shared);
  for (int i = 0; i < kNumbers; ++i) pages.push_back(i);
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, before);
  ASSERT_TRUE(shared->failure);
  EXPECT_NE(shared->failure->what.find("cannot grow"), std::string::npos);
  EXPECT_NE(shared->failure->hint.find("limits.memory_mb"), std::string::npos);
  EXPECT_LT(pages.size(), size_t{kNumbers});
  EXPECT_GT(pages.size(), size_t{4 << 17}) << "what is there can be read";
  for (size_t i = 0; i < pages.size(); i += 997) ASSERT_EQ(pages[i], double(i));
}

TEST_F(PagesInAFile, SayWhenTheFolderCannotBe) {
  ASSERT_TRUE(write_file(folder_, "a file"));
  const auto shared = use(4096);
  Pages<double> pages(shared);
  EXPECT_FALSE(pages.resize(100'000));
  EXPECT_TRUE(shared->failure);
  EXPECT_EQ(pages.size(), 0u);
}

}  // namespace pages_test
}  // namespace parley
