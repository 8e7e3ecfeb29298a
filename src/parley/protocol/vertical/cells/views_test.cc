// What each owner sees, counted over all words modulo 4: it is uniform, whatever the other owner's
// rows are, given only what that owner may know. The functions are those of the product, the test
// and a round; strings and leaves are replaced by words that are truly random, which is what AES as
// an ideal cipher makes of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "parley/protocol/vertical/cells/block_product.h"
#include "parley/protocol/vertical/cells/legal_rows.h"

namespace parley::protocol::ot {
namespace views_test {

using List = WipedVector<uint64_t>;
using Leaves = WipedVector<uint32_t>;
using View = std::vector<uint64_t>;
using Counted = std::map<View, size_t>;

/// Calls use(words) for every list of `count` words modulo 4.
template <class Use>
void each_list(size_t count, const Use& use) {
  for (uint64_t all = 0; all < uint64_t{1} << (2 * count); ++all) {
    List words(count);
    for (size_t i = 0; i < count; ++i) words[i] = all >> (2 * i) & 3;
    use(words);
  }
}

void append(View& view, std::span<const uint64_t> words) {
  for (const uint64_t word : words) view.push_back(word & 3);
}

bool is_uniform(const Counted& counted, size_t views) {
  if (counted.size() != views) return false;
  return std::all_of(counted.begin(), counted.end(),
                     [&](const auto& each) { return each.second == counted.begin()->second; });
}

/// One cell, in which a record has chosen, and one number a record.
struct Product {
  std::vector<View> seen{};  // by the receiver: of every record its words, then what was sent
  Words p, q;
};

/// `words` of all leaves of all records, `chosen` by the receiver, `numbers` of the sender; `wrong`
/// is added to what it sends of the first record.
Product product(const Cell& cell, std::span<const uint64_t> words, std::span<const uint32_t> chosen,
                std::span<const uint64_t> numbers, size_t own_columns, uint64_t wrong = 0) {
  const size_t leaves = cell.leaves(), columns = numbers.size() / chosen.size();
  std::vector<Words> of_m = leaf_sums({cell}, columns), of_k = of_m;
  add_all(words, of_k[0]);
  Product out;
  for (size_t i = 0; i < chosen.size(); ++i) {
    List sent(numbers.begin() + long(i * columns), numbers.begin() + long((i + 1) * columns));
    const auto all = words.subspan(i * leaves * columns, leaves * columns);
    add_leaves(all, sent);
    if (i == 0) sent[0] += wrong;
    List known(all.begin(), all.end());
    for (size_t c = 0; c < columns; ++c) known[chosen[i] * columns + c] = 0;
    View& view = out.seen.emplace_back();
    append(view, known);
    append(view, sent);
    fill_missing(known, sent, chosen[i], leaves);
    add_all(known, of_m[0]);
  }
  out.p = gathered({cell}, of_m, own_columns);
  out.q = gathered({cell}, of_k, own_columns);
  return out;
}

View joined(const std::vector<View>& parts) {
  View all;
  for (const View& part : parts) append(all, part);
  return all;
}

TEST(Views, WordsOfAProductAreUniformAtTheReceiverWhateverTheNumbersAre) {
  const Cell cell = category_cell(2, false, 0, 1);
  for (uint32_t choice = 0; choice < 4; ++choice) {
    const std::vector<uint32_t> chosen{choice & 1, choice >> 1};
    each_list(2, [&](const List& numbers) {
      Counted views;
      each_list(4, [&](const List& words) {
        ++views[joined(product(cell, words, chosen, numbers, 2).seen)];
      });
      EXPECT_TRUE(is_uniform(views, 256));
    });
  }
}

TEST(Views, WordsOfAProductAreUniformInCellsOfFourLeaves) {
  const Cell cell = category_cell(3, true, 0, 1);
  for (uint32_t chosen = 0; chosen < 4; ++chosen)
    for (uint64_t number = 0; number < 4; ++number) {
      Counted views;
      each_list(4, [&](const List& words) {
        ++views[joined(product(cell, words, Leaves{chosen}, List{number}, 3).seen)];
      });
      EXPECT_TRUE(is_uniform(views, 256)) << chosen << " " << number;
    }
}

TEST(Views, EachShareAloneIsUniformAndTheirDifferenceIsC) {
  const Cell cell = category_cell(2, false, 0, 1);
  for (uint32_t choice = 0; choice < 4; ++choice) {
    const std::vector<uint32_t> chosen{choice & 1, choice >> 1};
    each_list(2, [&](const List& numbers) {
      Counted p, q;
      View exact(2);
      for (size_t i = 0; i < 2; ++i) exact[chosen[i]] += numbers[i];
      for (uint64_t& sum : exact) sum &= 3;
      each_list(4, [&](const List& words) {
        const Product made = product(cell, words, chosen, numbers, 2);
        View of_m, of_k, difference;
        append(of_m, made.p.values);
        append(of_k, made.q.values);
        append(difference, (made.p - made.q).values);
        ++p[of_m], ++q[of_k];
        EXPECT_EQ(difference, exact);
      });
      EXPECT_TRUE(is_uniform(p, 16) && is_uniform(q, 16));
    });
  }
}

/// One vector of the five, the others zero.
Words vector_of(std::span<const uint64_t> rho) {
  Words vectors(rho.size(), kTests);
  for (size_t row = 0; row < rho.size(); ++row) vectors.at(row, 0) = rho[row];
  return vectors;
}

/// A session of one record: m chose of two leaves, k of two; k's row is 1 at its leaf. Words of the
/// product, one for every leaf of m and column of k; words of the test, one for every leaf of k.
struct Tested {
  View of_m, of_k;  // all that each sees
  bool equal = false;
};
Tested tested(uint32_t leaf_m, uint32_t leaf_k, const List& words, const List& test_words,
              const List& rho, uint64_t wrong = 0) {
  const Cell cell = category_cell(2, false, 0, 1);
  const Words vectors = vector_of(rho);
  const List row_m{leaf_m == 0, leaf_m == 1}, row_k{leaf_k == 0, leaf_k == 1};
  const Product forward = product(cell, words, Leaves{leaf_m}, row_k, 2, wrong);
  const WipedVector<int64_t> numbers(row_m.begin(), row_m.end());
  const List all = tested_numbers(numbers, vectors);
  const Product back = product(cell, test_words, Leaves{leaf_k}, List{all[0]}, 2);
  Words a(2, kTests), b(2, kTests);
  for (size_t row = 0; row < 2; ++row)
    a.at(row, 0) = back.p.at(row, 0), b.at(row, 0) = back.q.at(row, 0);
  const List x = compared_words(forward.p, vectors, b), y = compared_words(forward.q, vectors, a);
  Tested out{.of_m = joined(forward.seen), .of_k = {}, .equal = true};
  for (size_t i = 0; i < x.size(); ++i) out.equal &= ((x[i] - y[i]) & 3) == 0;
  append(out.of_m, test_words);
  append(out.of_k, words);
  const View seen = joined(back.seen);
  append(out.of_k, seen);
  return out;
}

TEST(Views, TheTestShowsNeitherOwnerTheOthersRow) {
  each_list(2, [&](const List& rho) {
    for (uint32_t leaf = 0; leaf < 2; ++leaf) {
      std::set<Counted> of_m, of_k;
      for (uint32_t other = 0; other < 2; ++other) {
        Counted m, k;
        each_list(4, [&](const List& words) {
          each_list(2, [&](const List& test_words) {
            const Tested as_m = tested(leaf, other, words, test_words, rho);
            const Tested as_k = tested(other, leaf, words, test_words, rho);
            EXPECT_TRUE(as_m.equal && as_k.equal);
            ++m[as_m.of_m], ++k[as_k.of_k];
          });
        });
        EXPECT_TRUE(is_uniform(m, 4096) && is_uniform(k, 4096));
        of_m.insert(m), of_k.insert(k);
      }
      EXPECT_EQ(of_m.size(), 1u);
      EXPECT_EQ(of_k.size(), 1u);
    }
  });
}

/// A round: one row, one column, n of two bits, two transfers. k has one word of each, and zeta
/// says which; both of m's words of transfer t are words[2 t] and words[2 t + 1].
struct Round {
  View of_m, of_k;
  uint64_t result = 0;  // m's, without noise
};
Round round_of(uint64_t n, uint32_t zeta, uint64_t p, uint64_t q, const List& words) {
  const uint64_t shifted = (n + 2) & 3;
  std::vector<uint8_t> chosen, flips;
  List own, taken, others;
  for (uint32_t t = 0; t < 2; ++t) {
    const uint32_t has = zeta >> t & 1;
    chosen.push_back(shifted >> t & 1);
    flips.push_back(uint8_t(chosen[t] ^ has));
    own.push_back(words[2 * t + has]);
    taken.push_back(words[2 * t + flips[t]]);
    others.push_back(words[2 * t + 1 - flips[t]]);
  }
  Words share_m(1, 1), share_k(1, 1);
  share_m.values[0] = p, share_k.values[0] = q;
  const BlockAnswer answer = masked_share(taken, others, share_m, 1, 2);
  const List v = opened_sum(own, answer.words, chosen, share_k, List{n});
  Round out{.of_m = {}, .of_k = {}, .result = (v[0] - answer.mask[0]) & 3};
  append(out.of_k, own);
  append(out.of_k, answer.words);
  for (const uint8_t flip : flips) out.of_m.push_back(flip);
  append(out.of_m, v);
  return out;
}

TEST(Views, ARoundShowsTheChooserNothing) {
  for (uint64_t n = 0; n < 4; ++n)
    for (uint32_t zeta = 0; zeta < 4; ++zeta)
      for (uint64_t p = 0; p < 4; ++p) {
        Counted views;
        each_list(4, [&](const List& words) { ++views[round_of(n, zeta, p, 1, words).of_k]; });
        EXPECT_TRUE(is_uniform(views, 256)) << n << " " << zeta << " " << p;
      }
}

/// Over zeta: for every P and words of m, what it sees is the same for all n and Q with one result.
TEST(Views, ARoundShowsTheOtherTheResultAndNothingElse) {
  const auto signed_n = [](uint64_t n) { return n < 2 ? n : n - 4; };  // -2 .. 1
  for (uint64_t p = 0; p < 4; ++p)
    each_list(4, [&](const List& words) {
      std::map<uint64_t, std::set<Counted>> by_result;
      for (uint64_t n = 0; n < 4; ++n)
        for (uint64_t q = 0; q < 4; ++q) {
          Counted views;
          const uint64_t result = ((p - q) * signed_n(n)) & 3;
          for (uint32_t zeta = 0; zeta < 4; ++zeta) {
            const Round seen = round_of(signed_n(n), zeta, p, q, words);
            EXPECT_EQ(seen.result, result);
            ++views[seen.of_m];
          }
          by_result[result].insert(views);
        }
      for (const auto& [result, views] : by_result) EXPECT_EQ(views.size(), 1u) << result;
    });
}

/// The upper bit of two stands for the upper 8 of 64: an error there passes where the vectors of
/// the test are even, whatever m chose. k's row counts for nothing here, so C is 0, and noise hides
/// the lower bit wholly. If the upper bit were opened with it, it would say which leaf m chose.
TEST(Views, WithoutTheReductionTheUpperBitsWouldTellWhatWasChosen) {
  const Cell cell = category_cell(2, false, 0, 1);
  const List even{2, 0};
  std::set<Counted> whole, reduced;
  for (uint32_t leaf = 0; leaf < 2; ++leaf) {
    Counted opened, kept;
    each_list(2, [&](const List& words) {
      const Product wrong = product(cell, words, Leaves{leaf}, List{0}, 2, 2);
      const List x = compared_words(wrong.p, vector_of(even), Words(1, kTests));
      const List y = compared_words(wrong.q, vector_of(even), Words(1, kTests));
      EXPECT_EQ(x[0] & 3, y[0] & 3) << "the test passes";
      for (uint64_t noise = 0; noise < 4; ++noise) {
        View numbers;
        for (size_t row = 0; row < 2; ++row)
          numbers.push_back((wrong.p.at(row, 0) - wrong.q.at(row, 0) + (noise >> row & 1)) & 3);
        ++opened[numbers];
        for (uint64_t& number : numbers) number &= 1;
        ++kept[numbers];
      }
    });
    whole.insert(opened), reduced.insert(kept);
  }
  EXPECT_EQ(whole.size(), 2u) << "opened as they are, the two choices look different";
  EXPECT_EQ(reduced.size(), 1u);
}

/// The same in the words as they are: after 2^56 the error is gone from what is kept.
TEST(Views, TheReductionDropsAnErrorThatThePassedTestLeft) {
  const Cell cell = category_cell(2, false, 0, 1);
  for (const unsigned power : {56u, 60u, 63u}) {
    const List words{11, uint64_t{1} << 62};
    const Product wrong = product(cell, words, Leaves{1}, List{5}, 2, uint64_t{1} << power);
    Words p = wrong.p, q = wrong.q;
    EXPECT_NE((p - q).at(1, 0), 5u);
    reduce(p.values), reduce(q.values);
    EXPECT_EQ(signed_number((p - q).at(1, 0)), 5);
    EXPECT_EQ(signed_number((p - q).at(0, 0)), 0);
  }
}

}  // namespace views_test
}  // namespace parley::protocol::ot
