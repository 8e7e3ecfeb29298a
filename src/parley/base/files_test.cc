#include "parley/base/files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <thread>

namespace parley {
namespace files_test {

namespace fs = std::filesystem;

/// An empty folder for each test, removed afterwards.
class Files : public testing::Test {
 protected:
  Files()
      : folder_(fs::path(testing::TempDir()) /
                ("parley_files_" + std::to_string(getpid()) + "_" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~Files() override { fs::remove_all(folder_); }

  size_t entries() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  fs::path folder_;
};

TEST_F(Files, MadeFilesAreNewOrNoneIsAndSecretOnesAreTheUsers) {
  const std::vector<FileToMake> files = {{folder_ / "key", "k", true}, {folder_ / "open", "o"}};
  ASSERT_TRUE(make_files(files));
  EXPECT_EQ(fs::status(folder_ / "key").permissions(), fs::perms(0600));
  EXPECT_EQ(*read_file(folder_ / "open"), "o");
  const std::vector<FileToMake> again = {{folder_ / "new", "n"}, {folder_ / "open", "p"}};
  const auto refused = make_files(again);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where.file, (folder_ / "open").string());
  EXPECT_EQ(*read_file(folder_ / "open"), "o");
  EXPECT_FALSE(fs::exists(folder_ / "new"));
  fs::create_symlink(folder_ / "nowhere", folder_ / "link");
  EXPECT_FALSE(must_be_absent(folder_ / "link"));
}

TEST_F(Files, AppendingKeepsWhatIsThere) {
  ASSERT_TRUE(append_to_file(folder_ / "list", "a\n"));
  ASSERT_TRUE(append_to_file(folder_ / "list", "b\n"));
  EXPECT_EQ(*read_file(folder_ / "list"), "a\nb\n");
}

TEST_F(Files, WhatIsWrittenIsRead) {
  const fs::path path = folder_ / "a";
  const std::string content("with\0zero\n", 10), large(300'000, 'x');
  for (const std::string& text : {std::string(), content, large}) {
    ASSERT_TRUE(write_file(path, text));
    EXPECT_EQ(*read_file(path), text);
    EXPECT_EQ(*hash_file(path), sha256(as_bytes(text)));
  }
  EXPECT_EQ(entries(), 1u) << "no temporary file stays behind";
}

TEST_F(Files, TheLimitIsExact) {
  const fs::path path = folder_ / "a";
  ASSERT_TRUE(write_file(path, std::string(1000, 'x')));
  EXPECT_TRUE(read_file(path, 1000));
  const auto refused = read_file(path, 999);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalid);
  EXPECT_EQ(describe(refused.error()), path.string() + ": is larger than 999 bytes");
  EXPECT_FALSE(read_file("/dev/zero", 1 << 20)) << "an endless file is refused, too";
}

TEST_F(Files, ErrorsNameTheFile) {
  const fs::path absent = folder_ / "absent" / "a";
  for (const auto& failed : {read_file(absent).error(), hash_file(absent).error(),
                             write_file(absent, "x").error(), read_file(folder_).error()}) {
    EXPECT_EQ(failed.code, Code::kInvalid);
    EXPECT_TRUE(failed.where.file.starts_with(folder_.string())) << failed.where.file;
  }
  EXPECT_EQ(read_file(absent).error().hint, "Check the path.");
  ASSERT_TRUE(write_file(folder_ / "file", "x"));
  EXPECT_FALSE(make_directories(folder_ / "file" / "below"));
  EXPECT_TRUE(make_directories(folder_ / "b" / "c"));
  EXPECT_TRUE(make_directories(folder_ / "b" / "c")) << "again is no error";
}

TEST_F(Files, ReadersNeverSeeAPart) {
  const fs::path path = folder_ / "a";
  const std::string old_text(200'000, 'a'), new_text(100'000, 'b');
  ASSERT_TRUE(write_file(path, old_text));
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; i < 40; ++i) EXPECT_TRUE(write_file(path, i % 2 ? old_text : new_text));
    done = true;
  });
  do {
    const auto text = read_file(path);
    EXPECT_TRUE(text && (*text == old_text || *text == new_text));
  } while (!done);
  writer.join();
}

TEST_F(Files, AFailedWriteLeavesTheOldFileAndNothingElse) {
  const fs::path path = folder_ / "a";
  ASSERT_TRUE(write_file(path, "old"));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto failed = write_file(path, std::string(5000, 'x'));  // As on a full disk.
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::kFailed);
  EXPECT_EQ(failed.error().hint, "Make room on the disk, then try again.");
  EXPECT_EQ(*read_file(path), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, AFolderIsNotReplacedByAFile) {
  ASSERT_TRUE(make_directories(folder_ / "a"));
  EXPECT_FALSE(write_file(folder_ / "a", "x"));
  EXPECT_TRUE(fs::is_directory(folder_ / "a"));
  EXPECT_EQ(entries(), 1u);
}

}  // namespace files_test
}  // namespace parley
