#include "parley/protocol/vertical/moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "parley/protocol/vertical/pads.h"
#include "support/entropy.h"
#include "support/to_mask.h"

namespace parley::protocol {
namespace moments_test {

using learn::IntegerColumns, learn::IntegerRows, learn::MomentsLayout, privacy::ToMaskForTest;

IntegerColumns random_columns(size_t records, size_t columns, bool labels, Entropy& entropy) {
  auto rows = std::make_shared<data::Rows>(columns);
  for (size_t i = 0; i < records; ++i) {
    std::vector<double> z(columns);
    for (double& value : z) value = double(int64_t(entropy.word() % 2001) - 1000) / 1000;
    rows->add(z, 0);
  }
  IntegerColumns made{IntegerRows(std::shared_ptr<const data::Rows>(rows), 10, 9)};
  for (size_t i = 0; labels && i < records; ++i)
    made.labels.push_back(entropy.word() % 2 ? 1024 : -1024);
  return made;
}

/// By column; the label is the last of its holder's.
std::vector<std::vector<int64_t>> dense(const IntegerColumns& columns) {
  const IntegerRows& rows = columns.rows;
  std::vector<std::vector<int64_t>> all(rows.columns(), std::vector<int64_t>(rows.size()));
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t k = 0; k < rows.at(i).size(); ++k) all[rows.at(i)[k]][i] = rows.values(i)[k];
  if (!columns.labels.empty()) all.push_back(columns.labels);
  return all;
}

int64_t dot(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  int64_t sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

TEST(SecretMoments, OpenEveryProductOfTwoPartiesPlusTheDealersNoise) {
  test::SeededEntropy entropy(1, "moments");
  const std::vector<size_t> widths = {3, 1, 4};
  const size_t holder = 1, records = 30;
  const MomentsLayout layout(widths, holder);
  std::vector<privacy::ToMask<IntegerColumns>> columns;
  std::vector<std::vector<std::vector<int64_t>>> exact;
  for (size_t m = 0; m < 3; ++m) {
    IntegerColumns made = random_columns(records, widths[m], m == holder, entropy);
    exact.push_back(dense(made));
    columns.push_back(ToMaskForTest::make(std::move(made)));
  }
  std::vector<Secret32> setups, rounds;
  for (size_t m = 0; m < 3; ++m)
    setups.push_back(draw_secret(entropy)), rounds.push_back(draw_secret(entropy));
  std::vector<MomentsParty> parties;
  for (size_t m = 0; m < 3; ++m) parties.emplace_back(columns[m], layout, m);
  for (size_t m = 0; m < 3; ++m) {
    const auto masked = parties[m].setup(setups[m]).words;
    for (size_t k = 0; k < 3; ++k)
      if (k != m) parties[k].take_setup(m, masked);
  }
  const MomentsDealer dealer(records, layout, setups);
  for (size_t m = 0; m < 3; ++m) {
    std::vector<int64_t> drawn;
    const auto correction = dealer.correction_for(
        m, rounds, [&] { return drawn.emplace_back(int64_t(entropy.word()) >> 40); });
    ASSERT_EQ(correction.size(), layout.with_later(m));
    size_t at = 0;
    for (size_t k = m + 1; k < 3; ++k) {
      const size_t size = layout.width(m) * layout.width(k);
      const auto share = parties[k].share_for(m, round_seeds(rounds[k], k, 3));
      const auto opened =
          parties[m].opened_with(k, share, std::span<const Word>(correction).subspan(at, size));
      for (size_t j = 0; j < layout.width(m); ++j)
        for (size_t l = 0; l < layout.width(k); ++l)
          EXPECT_EQ(int64_t(opened[j * layout.width(k) + l]),
                    dot(exact[m][j], exact[k][l]) + drawn[at + j * layout.width(k) + l]);
      at += size;
    }
  }
}

/// The smallest noise that there is, so that the sums show through it: deviations of 8 and 4, no
/// draw beyond 15 of them (probability below 1e-40 each).
TEST(SecretMoments, OfItsOwnColumnsAPartyGivesNoisySums) {
  test::SeededEntropy entropy(2, "moments");
  const IntegerColumns made = random_columns(20, 3, true, entropy);
  const auto exact = dense(made);
  const auto columns = ToMaskForTest::make(IntegerColumns(made));
  const MomentsParty party(columns, MomentsLayout({3, 2}, 0), 0);
  const auto noise = *privacy::Gaussian::make(64), beside = *privacy::Gaussian::make(16);
  const auto sums = party.own(noise, beside, entropy);
  size_t next = 0, moved = 0;
  const auto look = [&](size_t j, size_t k) {
    const int64_t off = int64_t(sums[next++]) - dot(exact[j], exact[k]);
    EXPECT_LE(std::abs(off), 120) << j << " " << k;
    moved += off != 0;
  };
  for (size_t j = 0; j < 3; ++j)
    for (size_t k = j; k < 3; ++k) look(j, k);
  for (size_t j = 0; j < 3; ++j) look(j, 3);
  EXPECT_EQ(next, sums.size());
  EXPECT_GT(moved, 0u);
}

/// Words modulo 4, for which everything that two parties together may see can be counted.
struct Four {
  unsigned value = 0;
  Four& operator+=(Four other) { return value = (value + other.value) % 4, *this; }
  Four& operator-=(Four other) { return value = (value + 4 - other.value) % 4, *this; }
  friend Four operator*(Four a, Four b) { return {a.value * b.value % 4}; }
  friend Four operator-(Four a, Four b) { return a -= b; }
};
using Matrix = WordMatrix<Four>;

Matrix column(unsigned number) { return {2, 1, {{number % 4}, {number / 4}}}; }

/// Two records, one column each; parties 0 and 1 work together against party 2, whose mask is the
/// same for both of them. Without noise, so that what is opened shows.
std::map<std::vector<unsigned>, int> views(unsigned d) {
  const Matrix own[2] = {column(6), column(14)}, masks[2] = {column(13), column(2)};
  std::map<std::vector<unsigned>, int> views;
  for (unsigned a = 0; a < 16; ++a)
    for (unsigned c = 0; c < 16; ++c) {
      const Matrix mask = column(a), masked{2, 1, minus<Four>(column(d).words, mask.words)};
      std::vector<unsigned> view = {masked.words[0].value, masked.words[1].value};
      for (unsigned m = 0; m < 2; ++m) {
        const Four pad{m == 0 ? c % 4 : c / 4};
        const Matrix e{2, 1, minus<Four>(own[m].words, masks[m].words)};
        Four share = transposed(e, mask)[0];
        share += pad;
        const Four correction = transposed(masks[m], mask)[0] - pad;
        view.push_back(share.value);
        view.push_back(correction.value);
      }
      ++views[view];
    }
  return views;
}

TEST(SecretMoments, TwoThatWorkTogetherSeeTheirProductsAndNothingElse) {
  std::map<std::vector<unsigned>, std::map<std::vector<unsigned>, int>> by_products;
  std::set<std::map<std::vector<unsigned>, int>> distinct;
  for (unsigned d = 0; d < 16; ++d) {
    const std::vector<unsigned> products = {transposed(column(6), column(d))[0].value,
                                            transposed(column(14), column(d))[0].value};
    const auto seen = views(d);
    distinct.insert(seen);
    const auto [before, fresh] = by_products.emplace(products, seen);
    EXPECT_EQ(before->second, seen) << "columns with the same products look the same";
  }
  EXPECT_EQ(distinct.size(), by_products.size());
  EXPECT_LT(by_products.size(), 16u) << "or nothing was compared";
}

}  // namespace moments_test
}  // namespace parley::protocol
