#include "parley/data/adbc/frames.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace parley::data::frames_test {
namespace {

/// The frames of 300 records of three cells.
std::vector<std::string> some_frames() {
  std::vector<std::string> frames;
  FrameWriter writer([&](std::string_view frame) { return frames.emplace_back(frame), true; });
  for (int64_t i = 0; i < 300; ++i) {
    writer.add(Cell::of(static_cast<double>(i) / 8));
    writer.add(i % 3 == 0 ? Cell{} : Cell::of(i));
    writer.add(Cell::of(std::string_view("a text of any length").substr(0, size_t(i % 20))));
    EXPECT_TRUE(writer.end_record());
  }
  EXPECT_TRUE(writer.end());
  return frames;
}

/// How many cells can be read, of what follows the kind.
size_t cells_of(std::string_view bytes) {
  auto reader = FrameReader::of(bytes);
  size_t count = 0;
  for (Cell cell; reader && !reader->at_end() && reader->next(cell);) {
    if (cell.kind == Cell::Kind::kText) {
      EXPECT_LE(cell.text.size(), bytes.size());
    }
    ++count;
  }
  return count;
}

TEST(Frames, GiveTheCellsThatWereAdded) {
  const auto frames = some_frames();
  ASSERT_EQ(frames.size(), 2u) << "records and the end";
  EXPECT_EQ(frames[1].substr(4), "E");
  uint32_t length = 0;
  std::memcpy(&length, frames[0].data(), sizeof length);
  EXPECT_EQ(length + 4, frames[0].size());
  auto reader = *FrameReader::of(std::string_view(frames[0]).substr(5));
  ASSERT_EQ(reader.records(), 300u);
  for (int64_t i = 0; i < 300; ++i) {
    Cell cell;
    ASSERT_TRUE(reader.next(cell));
    EXPECT_EQ(cell.real, static_cast<double>(i) / 8);
    ASSERT_TRUE(reader.next(cell));
    if (i % 3 != 0) {
      EXPECT_EQ(cell.integer, i);
    }
    ASSERT_TRUE(reader.next(cell));
    EXPECT_EQ(cell.text, std::string_view("a text of any length").substr(0, size_t(i % 20)));
  }
  EXPECT_TRUE(reader.at_end());
}

TEST(Frames, DamagedOnesEndEarlyAndNeverReadBeyondTheirBytes) {
  const std::string whole = some_frames()[0].substr(5);
  ASSERT_EQ(cells_of(whole), 900u);
  for (size_t size = 0; size < whole.size(); size += 7) {
    const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_LT(cells_of({cut.data(), cut.size()}), 900u);
  }
  std::mt19937_64 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::vector<char> damaged(whole.begin(), whole.end());
    damaged[random() % damaged.size()] = static_cast<char>(random());
    cells_of({damaged.data(), damaged.size()});
  }
}

TEST(Frames, NobodyWhoTakesThemIsSaid) {
  FrameWriter writer([](std::string_view) { return false; });
  writer.add(Cell::of(1.0));
  EXPECT_TRUE(writer.end_record());
  EXPECT_FALSE(writer.end());
}

}  // namespace
}  // namespace parley::data::frames_test
