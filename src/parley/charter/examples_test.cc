// The files under examples/: they must be read, and no damage to them may crash the reader.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "parley/base/files.h"
#include "parley/charter/charter.h"
#include "parley/charter/policy.h"

namespace parley::charter {
namespace examples_test {

namespace fs = std::filesystem;

/// From $PARLEY_SOURCE, else from a folder above this one.
fs::path examples() {
  if (const char* source = std::getenv("PARLEY_SOURCE")) return fs::path(source) / "examples";
  for (fs::path folder = fs::current_path();; folder = folder.parent_path()) {
    if (fs::exists(folder / "examples" / "bank-a.policy.toml")) return folder / "examples";
    if (folder == folder.parent_path()) return "examples";
  }
}

const std::vector<std::string> kCharters = {"three-banks", "loans", "hospitals", "ten-clinics",
                                            "two-agencies"};

std::string text_of(const std::string& file) {
  const auto text = read_file(examples() / file);
  EXPECT_TRUE(text) << "set PARLEY_SOURCE to the repository: " << describe(text.error());
  return text ? *text : "";
}

TEST(Examples, AllChartersAreComplete) {
  for (const std::string& name : kCharters) {
    const auto charter = read_charter(examples() / (name + ".charter.toml"));
    ASSERT_TRUE(charter) << describe(charter.error());
    EXPECT_TRUE(charter->complete()) << name;
    EXPECT_EQ(charter->folder, examples());
  }
  EXPECT_EQ(read_charter(examples() / "hospitals.charter.toml")->owners.size(), 86u);
}

/// Changes with the format only: a new default or key makes every agreed charter another job.
TEST(Examples, GoldenHashes) {
  const auto hash = [](const std::string& name) {
    return to_hex(read_charter(examples() / (name + ".charter.toml"))->hash);
  };
  EXPECT_EQ(hash("hospitals"), "1bb31180bebf459b8ba52de1cce1248fda4ee5679713906c91b4cc1f620b49ac");
  EXPECT_EQ(hash("ten-clinics"),
            "8b348889551fe42a6a95d9bdbb277c186c181d1770736dcc70aa32385aaecd1d");
  EXPECT_EQ(hash("two-agencies"),
            "e58643aad8adc1ac567c23a36100d43f47f060973aac862e65f9c84cdfc5dc88");
}

// Equal weights of 1 are what a charter without them means.
TEST(Examples, ClassWeightsOfOneDoNotChangeTheJob) {
  const auto with = [](const std::string& weights) {
    const std::vector<Override> changes = {{"model.class_weights", weights}};
    return *read_charter(examples() / "ten-clinics.charter.toml", changes);
  };
  const Charter plain = *read_charter(examples() / "ten-clinics.charter.toml");
  EXPECT_EQ(with("[1, 1.0]").hash, plain.hash);
  const Charter weighted = with("[1, 5]");
  EXPECT_NE(weighted.hash, plain.hash);
  EXPECT_NE(with("[5, 1]").hash, weighted.hash) << "the order is that of the classes";
  EXPECT_EQ(loss_of(weighted.model), learn::Losses(learn::Logistic{{1, 5}}));
}

TEST(Examples, ThePolicyIsRead) {
  const auto policy = read_policy(examples() / "bank-a.policy.toml");
  ASSERT_TRUE(policy) << describe(policy.error());
  EXPECT_EQ(policy->datasets.size(), 2u);
  EXPECT_EQ(policy->accept.size(), 2u);
}

/// splitmix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  size_t below(size_t n) {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % n;
  }

 private:
  uint64_t state_;
};

constexpr std::string_view kScraps[] = {
    "\n",    "=",           "[",          "]]",     "{",
    "}",     "\"",          "'''",        "\"\"\"", ".",
    "#",     "\\u",         "-1",         "1e400",  "nan",
    "inf",   "0",           "-0",         ",",      "true",
    "[[a]]", "a.b.c = 1\n", "\xff",       "\xc3",   "99999999999999999999",
    "[]",    "{}",          "1979-05-27", "\"\"",   "\t",
    "\r\n"};

/// Damages a text in one to three places.
std::string mutated(std::string text, Random& random) {
  for (size_t left = 1 + random.below(3); left > 0 && !text.empty(); --left) {
    const size_t at = random.below(text.size()), length = random.below(24);
    const size_t other = random.below(text.size());
    switch (random.below(7)) {
      case 0:
        text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        std::swap(text[at], text[other]);
        break;
      case 3:
        text.insert(at, text.substr(other, length));
        break;
      case 4:
        text.insert(at, kScraps[random.below(std::size(kScraps))]);
        break;
      case 5:
        text.replace(at, length, kScraps[random.below(std::size(kScraps))]);
        break;
      default:
        if (random.below(8) == 0) text.resize(at);
    }
  }
  return text;
}

void expect_sane(const Result<Charter>& charter) {
  if (!charter) {
    EXPECT_FALSE(charter.error().what.empty());
    EXPECT_FALSE(charter.error().where.file.empty());
    return;
  }
  EXPECT_EQ(charter->hash, sha256(as_bytes(charter->canonical)));
}

TEST(Examples, DamagedChartersAreReadOrRefusedButNeverCrash) {
  constexpr int kTimes = 1000;
  for (const std::string& name : kCharters) {
    const std::string text = text_of(name + ".charter.toml");
    Random random(7);
    int refused = 0;
    for (int i = 0; i < kTimes; ++i) {
      SCOPED_TRACE(name + ", mutation " + std::to_string(i));
      const auto charter = parse_charter(mutated(text, random), name, examples());
      refused += charter ? 0 : 1;
      expect_sane(charter);
    }
    EXPECT_GT(refused, kTimes / 4) << "the damage is too small to test anything";
    EXPECT_LT(refused, kTimes) << "the damage is too large to test anything";
  }
}

TEST(Examples, DamagedOwnersTablesAreReadOrRefusedButNeverCrash) {
  const fs::path folder = fs::path(testing::TempDir()) / "parley_damaged_owners";
  fs::create_directories(folder);
  const std::string text = text_of("ten-clinics.charter.toml");
  const std::string csv = text_of("ten-clinics.owners.csv");
  Random random(8);
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE("mutation " + std::to_string(i));
    const std::string damaged = mutated(csv, random);
    std::ofstream(folder / "ten-clinics.owners.csv", std::ios::binary) << damaged;
    const std::string hash = "\"" + to_hex(sha256(as_bytes(damaged))) + "\"";
    const std::vector<Override> changes = {{"owners.sha256", hash}};
    expect_sane(parse_charter(text, "ten-clinics", folder, changes));
  }
}

TEST(Examples, DamagedPoliciesAreReadOrRefusedButNeverCrash) {
  const std::string text = text_of("bank-a.policy.toml");
  Random random(9);
  for (int i = 0; i < 800; ++i) {
    SCOPED_TRACE("mutation " + std::to_string(i));
    const auto policy = parse_policy(mutated(text, random), "bank-a");
    EXPECT_TRUE(policy || !policy.error().what.empty());
  }
}

}  // namespace examples_test
}  // namespace parley::charter
