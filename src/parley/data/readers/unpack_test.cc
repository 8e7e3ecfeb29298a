#include "parley/data/readers/unpack.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <random>
#include <string>

#include "parley/base/files.h"

namespace parley::data {
namespace unpack_test {

std::string packed(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

struct UnpackTest : testing::Test {
  Result<std::string> read(const std::string& content, uint64_t bytes_max = 1 << 30) {
    check(bool(write_file(file, content)));
    std::string text;
    TRY(read_unpacked(file, bytes_max, [&](ByteView piece) {
      text.append(piece.begin(), piece.end());
      return true;
    }));
    return text;
  }
  void SetUp() override {
    std::mt19937_64 random(1);
    for (int i = 0; i < 300'000; ++i) text += static_cast<char>('a' + random() % 20);
  }
  void TearDown() override { std::filesystem::remove(file); }

  const std::filesystem::path file = testing::TempDir() + "unpack_test_" +
                                     testing::UnitTest::GetInstance()->current_test_info()->name();
  std::string text{};
};

TEST_F(UnpackTest, TellsByTheFirstBytesNotByTheName) {
  for (const std::string& plain : {std::string(), std::string("a"), std::string("abc"), text}) {
    const auto same = read(plain);
    ASSERT_TRUE(same);
    EXPECT_EQ(*same, plain);
  }
  for (const std::string& inside : {std::string(), std::string("a"), text}) {
    const auto out = read(packed(inside));
    ASSERT_TRUE(out) << describe(out.error());
    EXPECT_EQ(*out, inside);
  }
}

TEST_F(UnpackTest, ReadsFrameAfterFrame) {
  const auto out = read(packed(text) + packed("") + packed("tail"));
  ASSERT_TRUE(out);
  EXPECT_EQ(*out, text + "tail");
}

TEST_F(UnpackTest, AFileCutOffAnywhereIsAnErrorThatSaysWhere) {
  const std::string whole = packed(text);
  for (size_t size : {size_t{4}, size_t{5}, size_t{100}, whole.size() / 2, whole.size() - 1}) {
    const auto out = read(whole.substr(0, size));
    ASSERT_FALSE(out) << size;
    EXPECT_EQ(out.error().code, Code::kInvalid);
    EXPECT_EQ(out.error().where.file, file.string());
    EXPECT_NE(out.error().what.find("cut off after " + std::to_string(size)), std::string::npos)
        << out.error().what;
  }
}

TEST_F(UnpackTest, DamageIsAnError) {
  std::string whole = packed(text);
  whole[whole.size() / 2] ^= 1;
  whole[whole.size() / 2 + 1] ^= 0x55;
  const auto out = read(packed("start") + "\x28\xB5\x2F\xFDgarbage");
  ASSERT_FALSE(out);
  EXPECT_NE(out.error().what.find("zstd data"), std::string::npos);
}

TEST_F(UnpackTest, StopsAtTheCap) {
  const std::string bomb = packed(std::string(10 << 20, '0'));
  ASSERT_LT(bomb.size(), 10'000u);
  EXPECT_TRUE(read(bomb, 10 << 20));
  const auto out = read(bomb, (10 << 20) - 1);
  ASSERT_FALSE(out);
  EXPECT_NE(out.error().what.find("unpacks to more than 10485759 bytes"), std::string::npos);
}

TEST_F(UnpackTest, StopsWhenNobodyWantsMore) {
  check(bool(write_file(file, packed(text))));
  size_t pieces = 0;
  EXPECT_TRUE(read_unpacked(file, 1 << 30, [&](ByteView) { return ++pieces < 2; }));
  EXPECT_EQ(pieces, 2u);
}

}  // namespace unpack_test
}  // namespace parley::data
