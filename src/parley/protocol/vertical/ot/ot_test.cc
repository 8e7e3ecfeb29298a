#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "parley/learn/vertical/cells/cells.h"
#include "parley/protocol/vertical/cells/product.h"
#include "parley/protocol/vertical/ot/extension.h"
#include "parley/protocol/vertical/ot/field.h"
#include "parley/protocol/vertical/ot/hashes.h"
#include "parley/protocol/vertical/ot/trees.h"
#include "support/entropy.h"

namespace parley::protocol::ot {
namespace ot_test {

using test::SeededEntropy;
using Pairs = BlockPairs;

Block block(std::string_view hex) {
  const Bytes bytes = *from_hex(hex);
  Block out;
  std::memcpy(&out, bytes.data(), sizeof out);
  return out;
}

std::string hex(std::span<const Block> blocks) { return to_hex(as_bytes(blocks)); }

/// Bytes first, first + 1, ...
Blocks counting(uint8_t first, size_t blocks) {
  Blocks out(blocks);
  WipedVector<uint8_t> bytes(16 * blocks);
  std::iota(bytes.begin(), bytes.end(), first);
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

Direction golden() {
  Direction direction{.session = {}, .receiver = 0, .sender = 1};
  std::iota(direction.session.begin(), direction.session.end(), uint8_t{0});
  return direction;
}

/// Strings of ideal transfers, from a seed.
struct Ideal {
  Pairs both;
  Blocks chosen;
};
Ideal ideal(std::span<const uint8_t> choices, Entropy& entropy) {
  Ideal out;
  for (const uint8_t choice : choices) {
    out.both.push_back({draw_block(entropy), draw_block(entropy)});
    out.chosen.push_back(out.both.back()[choice]);
  }
  return out;
}

// The vectors of the theory page, which another program made.

TEST(TransferHashes, AreThoseOfTheGoldenVectors) {
  EXPECT_EQ(public_key(golden(), "ggm0"), block("f4f547f169340c2d220fd2aa88013821"));
  EXPECT_EQ(public_key(golden(), "ggm1"), block("cbdb8ac003160535c8ad0afe29b61729"));
  EXPECT_EQ(public_key(golden(), "hash"), block("cd96d8c2e37a0c540722599aa907f533"));
  EXPECT_EQ(public_key(golden(), "word", 0), block("24ea53e37e0d89c6519649f78c6c0f10"));
  EXPECT_EQ(public_key(golden(), "word", 1), block("2622e1efa7cfbc305ebc785fd876e639"));
  const Blocks x = counting(32, 2);
  Blocks strings(2);
  hash_transfers(Aes(public_key(golden(), "hash")), x, 0, strings);
  EXPECT_EQ(hex(strings), "562fbf39fa1674cdd54a420466a370a59a464df009dfacd00464244e8d34d04e");
  WipedVector<uint64_t> words;
  LeafWords(golden(), 3).of(std::span(x).first(1), words);
  EXPECT_EQ(words,
            (WipedVector<uint64_t>{0x4a745bdb1e26c9be, 0x5879e36df9951cd8, 0x31e361e84f9be8b0}));
}

TEST(TransferField, MultipliesAsTheGoldenVectorsAndBothWays) {
  const Block h = counting(16, 1)[0];
  EXPECT_EQ(times(h, h), block("c0a746a7d8a55ea5a0af26afb8ad3ead"));
  Blocks column;
  for (int i = 0; i < 3; ++i) column.push_back(counting(0, 1)[0]);
  EXPECT_EQ(column_hash(h, column), block("4988b53ff5415a7d1abc0f2e84dbd75c"));
  SeededEntropy entropy(1, "field");
  for (int i = 0; i < 1000; ++i) {
    const Block a = draw_block(entropy), b = draw_block(entropy), c = draw_block(entropy);
    EXPECT_EQ(times(a, b), times_by_masks(a, b));
    EXPECT_EQ(times(a, b ^ c), times(a, b) ^ times(a, c));
    EXPECT_EQ(times(a, times(b, c)), times(times(a, b), c));
  }
  const Block ones{~uint64_t{0}, ~uint64_t{0}};
  EXPECT_EQ(times(ones, ones), times_by_masks(ones, ones));
}

TEST(PuncturedTrees, AreThoseOfTheGoldenVectors) {
  const Blocks strings = counting(0, 6);
  const Pairs pairs{{strings[0], strings[1]}, {strings[2], strings[3]}, {strings[4], strings[5]}};
  const Trees trees(golden());
  const auto grown = trees.grow(3, 1, {pairs, 0, 3});
  EXPECT_EQ(hex(grown.corrections),
            "95c44ba8ec56cafbdf00e9ad0b7005feb3f34d17004d58bc365b90471c22e1e5"
            "a50cd5b9b72285572ce17180dc66ed2dcf71582102a2032ee124ef876c511836");
  EXPECT_EQ(grown.leaves[0], block("ad5d20a62a9a54ab5f435a1f15611bb0"));
  EXPECT_EQ(grown.leaves[5], block("dd7bf2127f520b774881ae15de5cdd4e"));
}

TEST(PuncturedTrees, GiveTheReceiverEveryLeafButItsOwn) {
  SeededEntropy entropy(2, "trees");
  const Trees trees(golden());
  for (uint32_t height = 1; height <= 6; ++height) {
    const Cells cells{Cell{.height = height, .adds = {}}};
    WipedVector<uint32_t> chosen(uint32_t{1} << height);
    std::iota(chosen.begin(), chosen.end(), 0u);
    const Ideal strings = ideal(choices_of(cells, chosen), entropy);
    const auto grown = trees.grow(height, chosen.size(), {strings.both, 0, height});
    const Blocks mine =
        trees.puncture(height, chosen, {strings.chosen, 0, height}, grown.corrections);
    for (size_t i = 0; i < chosen.size(); ++i)
      for (size_t leaf = 0; leaf < chosen.size(); ++leaf) {
        const size_t at = i * chosen.size() + leaf;
        EXPECT_EQ(mine[at], leaf == chosen[i] ? Block{} : grown.leaves[at]);
      }
  }
}

/// A session's transfers by base transfers and extension, one chunk for each list of choices.
struct Extended {
  Pairs both;
  Blocks chosen;
};
Extended extended(const std::vector<WipedVector<uint8_t>>& chunks, uint64_t seed) {
  SeededEntropy receivers(seed, "receiver"), senders(seed, "sender");
  const BaseReceiver base(golden(), receivers);
  const BaseSent sent = *choose_keys(golden(), base.offer(), senders);
  ExtensionReceiver receiver(golden(), *base.keys(sent.choice));
  ExtensionSender sender(golden(), sent.chosen);
  Extended out;
  for (const auto& choices : chunks) {
    const ExtensionColumns columns =
        receiver.extend(packed_choices(choices, receivers), choices.size());
    const Block h = *sender.receive(choices.size(), columns, senders);
    EXPECT_TRUE(sender.verify(receiver.prove(h)));
    const Blocks chosen = receiver.strings();
    const Pairs both = sender.strings();
    out.chosen.insert(out.chosen.end(), chosen.begin(), chosen.end());
    out.both.insert(out.both.end(), both.begin(), both.end());
  }
  return out;
}

WipedVector<uint8_t> random_choices(size_t count, Entropy& entropy) {
  WipedVector<uint8_t> choices(count);
  for (uint8_t& choice : choices) choice = entropy.word() & 1;
  return choices;
}

TEST(ObliviousTransfers, GiveTheReceiverTheStringThatItChose) {
  SeededEntropy entropy(3, "choices");
  std::vector<WipedVector<uint8_t>> chunks;
  for (const size_t count : {1, 127, 128, 129, 1000})
    chunks.push_back(random_choices(count, entropy));
  const Extended out = extended(chunks, 3);
  size_t at = 0;
  for (const auto& choices : chunks)
    for (const uint8_t choice : choices) {
      EXPECT_EQ(out.chosen[at], out.both[at][choice]);
      EXPECT_NE(out.chosen[at], out.both[at][1 - choice]);
      ++at;
    }
}

TEST(ObliviousTransfers, NoTwoStringsAreAlike) {
  const Extended out = extended({WipedVector<uint8_t>(300), WipedVector<uint8_t>(300)}, 4);
  std::vector<std::pair<uint64_t, uint64_t>> all;
  for (const auto& pair : out.both)
    for (const Block& string : pair) all.emplace_back(string.low, string.high);
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

TEST(ObliviousTransfers, ColumnsAndRowsAreTransposed) {
  SeededEntropy entropy(5, "bits");
  Blocks columns(kBase * 3);
  for (Block& each : columns) each = draw_block(entropy);
  const Blocks rows = rows_of(columns, 300);
  const auto bit = [](const Block& of, size_t at) {
    return (at < 64 ? of.low : of.high) >> (at % 64) & 1;
  };
  ASSERT_EQ(rows.size(), 300u);
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = 0; j < kBase; ++j)
      ASSERT_EQ(bit(rows[i], j), bit(columns[3 * j + i / 128], i % 128));
}

// Attacks of a receiver on the extension. With other choices in k columns it passes with
// probability 2^-k (it must have guessed that many bits of delta): k = 40 in ten sessions, false
// failure 1e-11.

TEST(ObliviousTransfers, OtherChoicesInSomeColumnsAreNoticed) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    SeededEntropy receivers(seed, "receiver"), senders(seed, "sender");
    const BaseReceiver base(golden(), receivers);
    const BaseSent sent = *choose_keys(golden(), base.offer(), senders);
    ExtensionReceiver receiver(golden(), *base.keys(sent.choice));
    ExtensionSender sender(golden(), sent.chosen);
    ExtensionColumns columns =
        receiver.extend(packed_choices(WipedVector<uint8_t>(200, 1), receivers), 200);
    const size_t height = columns.bits.size() / kBase;
    for (size_t j = 0; j < 40; ++j) columns.bits[j * height].low ^= 1;
    const Block h = *sender.receive(200, columns, senders);
    EXPECT_FALSE(sender.verify(receiver.prove(h)));
  }
}

TEST(ObliviousTransfers, ColumnsOfAnotherLengthAreRefused) {
  SeededEntropy entropy(6, "sender");
  ExtensionSender sender(golden(), {});
  EXPECT_FALSE(sender.receive(200, {Blocks(kBase * 2)}, entropy));
}

TEST(BaseTransfers, RefuseWhatIsNoElement) {
  SeededEntropy entropy(7, "base");
  Element neutral{}, invalid{};
  invalid.fill(0xff);
  EXPECT_FALSE(choose_keys(golden(), {neutral}, entropy));
  EXPECT_FALSE(choose_keys(golden(), {invalid}, entropy));
  const BaseReceiver base(golden(), entropy);
  for (const Element& bad : {neutral, invalid})
    for (const size_t b : {0, 1}) {
      BaseSent sent = *choose_keys(golden(), base.offer(), entropy);
      sent.choice.r[77][b] = bad;
      EXPECT_FALSE(base.keys(sent.choice));
    }
}

TEST(BaseTransfers, TheSenderHasOneKeyOfEachPair) {
  SeededEntropy entropy(8, "base");
  const BaseReceiver base(golden(), entropy);
  const BaseSent sent = *choose_keys(golden(), base.offer(), entropy);
  const KeyPairs keys = *base.keys(sent.choice);
  for (uint32_t j = 0; j < kBase; ++j) {
    const uint64_t bit = (j < 64 ? sent.chosen.delta.low : sent.chosen.delta.high) >> (j % 64) & 1;
    EXPECT_EQ(sent.chosen.keys[j], keys[j][bit]);
    EXPECT_NE(sent.chosen.keys[j], keys[j][1 - bit]);
  }
}

// Products.

WipedVector<uint64_t> as_words(std::span<const int64_t> values) {
  return {values.begin(), values.end()};
}

/// P - Q, in chunks of `chunk` records.
Words shared(const Cells& cells, size_t own_columns, std::span<const uint32_t> leaves,
             std::span<const uint64_t> numbers, size_t columns, const Ideal& strings,
             size_t chunk = 1000) {
  ProductSender sender(golden(), cells, own_columns, columns);
  ProductReceiver receiver(golden(), cells, own_columns, columns);
  const size_t records = leaves.size() / cells.size(), stride = transfers_of(cells);
  for (size_t at = 0; at < records; at += chunk) {
    const size_t count = std::min(chunk, records - at);
    const auto letter = sender.add(std::span(strings.both).subspan(at * stride, count * stride),
                                   numbers.subspan(at * columns, count * columns));
    EXPECT_TRUE(receiver.add(std::span(strings.chosen).subspan(at * stride, count * stride),
                             leaves.subspan(at * cells.size(), count * cells.size()), letter));
  }
  return receiver.share() - sender.share();
}

/// D' T in plain numbers.
Words plain(const Cells& cells, size_t own_columns, std::span<const uint32_t> leaves,
            std::span<const uint64_t> numbers, size_t columns) {
  const WipedVector<int64_t> rows = rows_of(cells, leaves, own_columns);
  Words product(own_columns, columns);
  for (size_t i = 0; i < leaves.size() / cells.size(); ++i)
    for (size_t a = 0; a < own_columns; ++a)
      for (size_t c = 0; c < columns; ++c)
        product.at(a, c) +=
            static_cast<uint64_t>(rows[i * own_columns + a]) * numbers[i * columns + c];
  return product;
}

TEST(SharedProduct, OfThreeRecordsIsThatOfTheGoldenVectors) {
  Cells own{category_cell(3, true, 0, 1), label_cell(3, 1)};
  Cells peer = number_cells(6, 0);
  peer.push_back(category_cell(2, false, 1, 32));
  const WipedVector<uint32_t> leaves{2, 1, 0, 0, 3, 1};
  WipedVector<uint32_t> theirs;
  for (const auto& [u, level] : {std::pair{5u, 1u}, {63u, 1u}, {32u, 0u}}) {
    for (const uint32_t leaf : number_leaves(u, 6)) theirs.push_back(leaf);
    theirs.push_back(level);
  }
  EXPECT_EQ(rows_of(own, leaves, 4), (WipedVector<int64_t>{0, 0, 1, 1, 1, 0, 0, -1, 0, 0, 0, 1}));
  const WipedVector<int64_t> numbers = rows_of(peer, theirs, 3);
  EXPECT_EQ(numbers, (WipedVector<int64_t>{-27, 0, 32, 31, 0, 32, 0, 32, 0}));
  const WipedVector<uint8_t> choices = choices_of(own, leaves);
  EXPECT_EQ(choices, (WipedVector<uint8_t>{0, 1, 0, 1, 1, 1, 0, 0, 0}));
  Blocks stream(2 * choices.size());
  key_stream({}, 0, stream);
  Ideal strings;
  for (size_t t = 0; t < choices.size(); ++t) {
    strings.both.push_back({stream[2 * t], stream[2 * t + 1]});
    strings.chosen.push_back(strings.both[t][choices[t]]);
  }
  ProductSender sender(golden(), own, 4, 3);
  ProductReceiver receiver(golden(), own, 4, 3);
  const ProductLetter letter = sender.add(strings.both, as_words(numbers));
  ASSERT_TRUE(receiver.add(strings.chosen, leaves, letter));
  EXPECT_EQ(WipedVector<uint64_t>(letter.words.begin(), letter.words.begin() + 9),
            (WipedVector<uint64_t>{0x974467477029cda2, 0xe25e68e954329358, 0xd56292551daa2073,
                                   0x0d6a86e481e11a04, 0xa6a377e44be72228, 0xcfd4a762ed068c47,
                                   0x41295bdbc3b2704d, 0x2cbd5cb419436e5c, 0x314f5383e02f714b}));
  const Words p = receiver.share(), q = sender.share();
  EXPECT_EQ(WipedVector<uint64_t>(p.values.begin(), p.values.begin() + 3),
            (WipedVector<uint64_t>{0xe3389e6cd339a188, 0x504c8a422073d6dd, 0x764e1a44c472cb73}));
  EXPECT_EQ(WipedVector<uint64_t>(q.values.begin(), q.values.begin() + 3),
            (WipedVector<uint64_t>{0xe3389e6cd339a169, 0x504c8a422073d6dd, 0x764e1a44c472cb53}));
  EXPECT_EQ((p - q).values,
            as_words(WipedVector<int64_t>{31, 0, 32, 0, 0, 0, -27, 0, 32, -58, 32, 0}));
}

WipedVector<uint64_t> random_words(size_t count, Entropy& entropy) {
  WipedVector<uint64_t> words(count);
  for (uint64_t& word : words) word = entropy.word();
  return words;
}

TEST(SharedProduct, IsThePlainOneForEveryNumberOfLevels) {
  SeededEntropy entropy(9, "levels");
  constexpr size_t kRecords = 24, kColumns = 3;
  for (uint32_t levels = 2; levels <= 64; ++levels)
    for (const bool constant : {false, true}) {
      const Cells cells{category_cell(levels, false, 0, 5)};
      WipedVector<uint32_t> leaves(kRecords, levels - 1);
      if (!constant)
        for (uint32_t& leaf : leaves) leaf = static_cast<uint32_t>(entropy.word() % levels);
      const auto numbers = random_words(kRecords * kColumns, entropy);
      const Ideal strings = ideal(choices_of(cells, leaves), entropy);
      EXPECT_EQ(shared(cells, levels, leaves, numbers, kColumns, strings, 7),
                plain(cells, levels, leaves, numbers, kColumns))
          << levels;
    }
}

TEST(SharedProduct, IsThePlainOneForNumbersOfEveryLength) {
  SeededEntropy entropy(10, "numbers");
  constexpr size_t kRecords = 20;
  for (uint32_t bits = 1; bits <= 16; ++bits) {
    const Cells cells = number_cells(bits, 0);
    WipedVector<uint32_t> leaves;
    uint64_t sum = 0;
    const auto numbers = random_words(kRecords, entropy);
    for (size_t i = 0; i < kRecords; ++i) {
      const auto u = static_cast<uint32_t>(entropy.word() >> (64 - bits));
      for (const uint32_t leaf : number_leaves(u, bits)) leaves.push_back(leaf);
      sum += static_cast<uint64_t>(int64_t{u} - (int64_t{1} << (bits - 1))) * numbers[i];
    }
    const Ideal strings = ideal(choices_of(cells, leaves), entropy);
    EXPECT_EQ(shared(cells, 1, leaves, numbers, 1, strings).values, WipedVector<uint64_t>{sum})
        << bits;
  }
}

TEST(SharedProduct, AnUnusedLeafGivesNothingButTheIntercept) {
  SeededEntropy entropy(11, "unused");
  Cells cells{category_cell(5, false, 0, 1)};
  add_to_all(cells[0], 5, 9);
  const WipedVector<uint32_t> leaves(4, 7);
  const auto numbers = random_words(4, entropy);
  const Ideal strings = ideal(choices_of(cells, leaves), entropy);
  const uint64_t all = numbers[0] + numbers[1] + numbers[2] + numbers[3];
  EXPECT_EQ(shared(cells, 6, leaves, numbers, 1, strings).values,
            (WipedVector<uint64_t>{0, 0, 0, 0, 0, 9 * all}));
}

TEST(SharedProduct, WorksOnRealTransfers) {
  SeededEntropy entropy(12, "records");
  Cells cells{category_cell(5, true, 0, 8)};
  for (Cell& cell : number_cells(8, 5)) cells.push_back(std::move(cell));
  WipedVector<uint32_t> leaves;
  for (int i = 0; i < 50; ++i) {
    leaves.push_back(static_cast<uint32_t>(entropy.word() % 6));
    for (const uint32_t leaf : number_leaves(entropy.word() & 255, 8)) leaves.push_back(leaf);
  }
  const auto numbers = random_words(50 * 4, entropy);
  const Extended out = extended({choices_of(cells, leaves)}, 12);
  EXPECT_EQ(shared(cells, 6, leaves, numbers, 4, {out.both, out.chosen}),
            plain(cells, 6, leaves, numbers, 4));
}

TEST(SharedProduct, ALetterOfAnotherLengthIsRefused) {
  SeededEntropy entropy(13, "length");
  const Cells cells{category_cell(5, true, 0, 1)};
  const WipedVector<uint32_t> leaves{1, 2};
  const Ideal strings = ideal(choices_of(cells, leaves), entropy);
  ProductSender sender(golden(), cells, 5, 1);
  ProductReceiver receiver(golden(), cells, 5, 1);
  ProductLetter letter = sender.add(strings.both, WipedVector<uint64_t>{1, 2});
  for (const int change : {-1, 1}) {
    ProductLetter other = letter;
    other.words.resize(letter.words.size() + change);
    EXPECT_FALSE(receiver.add(strings.chosen, leaves, other));
    other = letter;
    other.corrections.resize(letter.corrections.size() + change);
    EXPECT_FALSE(receiver.add(strings.chosen, leaves, other));
  }
}

}  // namespace ot_test
}  // namespace parley::protocol::ot
