#include "parley/base/entropy.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "support/words.h"

namespace parley {
namespace entropy_test {

constexpr int kDraws = 1 << 16;  // more than a hundred refills

std::vector<uint64_t> draw(Entropy& entropy, int count) {
  std::vector<uint64_t> words(count);
  for (uint64_t& word : words) word = entropy.word();
  return words;
}

/// The largest distance, over the 64 bit positions, of the number of ones from one half.
double imbalance(Entropy& entropy) {
  std::array<int, 64> ones{};
  for (const uint64_t word : draw(entropy, kDraws))
    for (int bit = 0; bit < 64; ++bit) ones[bit] += word >> bit & 1;
  double largest = 0;
  for (const int count : ones) largest = std::fmax(largest, std::fabs(count - kDraws / 2.0));
  return largest;
}

/// Fair bits exceed this in one of 64 positions with probability at most `false_failure` (Hoeffding
/// and the union bound).
double imbalance_threshold(double false_failure) {
  return std::sqrt(kDraws / 2.0 * std::log(2 * 64 / false_failure));
}

class Biased final : public test::OneByOne {  // Ones with probability 9/16.
  uint64_t next() override { return fair_.word() | (fair_.word() & fair_.word() & fair_.word()); }
  SystemEntropy fair_;
};

TEST(SystemEntropy, BitsAreBalanced) {
  SystemEntropy fair;
  Biased biased;
  EXPECT_LT(imbalance(fair), imbalance_threshold(1e-9));
  EXPECT_GT(imbalance(biased), imbalance_threshold(1e-9)) << "the test has lost its power";
}

TEST(SystemEntropy, NoWordComesTwice) {  // By chance: 2^31 pairs, each 2^-64, so below 2e-10.
  SystemEntropy entropy;
  const std::vector<uint64_t> words = draw(entropy, kDraws);
  EXPECT_EQ(std::set(words.begin(), words.end()).size(), words.size());
}

TEST(SystemEntropy, NoWordComesTwiceAlsoWhenItIsRenewed) {  // By chance as above.
  SystemEntropy entropy;
  std::vector<uint64_t> words;
  for (int count : {1, 495, 496, 497, 1000}) {
    for (const uint64_t word : draw(entropy, count)) words.push_back(word);
    entropy.renew();
  }
  EXPECT_EQ(std::set(words.begin(), words.end()).size(), words.size());
  EXPECT_FALSE(std::set(words.begin(), words.end()).contains(0)) << "a wiped word";
}

TEST(SystemEntropy, TwoInstancesDiffer) {  // By chance equal: 2^-256.
  SystemEntropy one, other;
  EXPECT_NE(draw(one, 4), draw(other, 4));
}

TEST(SystemEntropy, AForkedChildDrawsWordsOfItsOwn) {
  SystemEntropy entropy;
  draw(entropy, 3);  // The page is filled, and partly used, when the child inherits it.
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::vector<uint64_t> words = draw(entropy, 400);
    const size_t size = words.size() * sizeof(uint64_t);
    _exit(write(pipe_ends[1], words.data(), size) == static_cast<ssize_t>(size) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  std::vector<uint64_t> words(400);
  const ssize_t size = words.size() * sizeof(uint64_t);
  ASSERT_EQ(read(pipe_ends[0], words.data(), size), size);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  const std::vector<uint64_t> ours = draw(entropy, 400);
  words.insert(words.end(), ours.begin(), ours.end());
  EXPECT_EQ(std::set(words.begin(), words.end()).size(), 800u);  // By chance: below 2^-44.
}

}  // namespace entropy_test
}  // namespace parley
