#include "parley/wire/sealed.h"

#include <gtest/gtest.h>

#include "parley/wire/message.h"
#include "support/entropy.h"

namespace parley::wire {
namespace sealed_test {

using test::SeededEntropy;

const Secret32 kKey = {7};
const Hash kCharter = {1, 2, 3};

LetterHead some_head() { return {.from = "one", .to = "two", .session = 3, .round = 5}; }

Bytes some_message(size_t size) {
  Bytes message(size);
  for (size_t i = 0; i < size; ++i) message[i] = uint8_t(i * 7);
  return message;
}

TEST(Sealed, OpensToWhatWasSealed) {
  SeededEntropy entropy(1, "letters");
  for (const size_t size : {size_t{0}, size_t{1}, size_t{1000}, kPieceBytesMax}) {
    const Bytes message = some_message(size);
    const Sealed sealed = Sealed::seal(kKey, kCharter, some_head(), message, entropy);
    EXPECT_EQ(*sealed.open(kKey, kCharter), message);
  }
}

TEST(Sealed, LongMessagesTravelInPiecesOfAMebibyte) {
  SeededEntropy entropy(2, "letters");
  const Bytes message = some_message(2 * kPieceBytesMax + 5);
  const auto letters = seal_in_pieces(kKey, kCharter, some_head(), message, entropy);
  ASSERT_EQ(letters.size(), 3u);
  Bytes whole;
  for (const Sealed& letter : letters) {
    const Bytes piece = *letter.open(kKey, kCharter);
    whole.insert(whole.end(), piece.begin(), piece.end());
  }
  EXPECT_EQ(whole, message);
}

TEST(Sealed, NothingAroundItCanBeChanged) {
  SeededEntropy entropy(3, "letters");
  const Sealed sealed = Sealed::seal(kKey, kCharter, some_head(), some_message(40), entropy);
  const auto opens = [&](LetterHead head, const Secret32& key, const Hash& charter, Bytes box) {
    return bool(Sealed::received(std::move(head), sealed.nonce(), box)->open(key, charter));
  };
  const LetterHead head = sealed.head();
  EXPECT_TRUE(opens(head, kKey, kCharter, sealed.box()));
  EXPECT_FALSE(opens(head, Secret32{8}, kCharter, sealed.box()));
  EXPECT_FALSE(opens(head, kKey, Hash{}, sealed.box()));
  for (size_t i = 0; i < sealed.box().size(); ++i) {
    Bytes box = sealed.box();
    box[i] ^= 1;
    EXPECT_FALSE(opens(head, kKey, kCharter, box));
  }
  const auto changed = [&](auto change) {
    LetterHead other = head;
    change(other);
    return opens(other, kKey, kCharter, sealed.box());
  };
  EXPECT_FALSE(changed([](LetterHead& h) { h.from = "three"; }));
  EXPECT_FALSE(changed([](LetterHead& h) { h.to = "three"; }));
  EXPECT_FALSE(changed([](LetterHead& h) { ++h.session; }));
  EXPECT_FALSE(changed([](LetterHead& h) { ++h.round; }));
  EXPECT_FALSE(changed([](LetterHead& h) { ++h.parts; }));
}

TEST(Sealed, TwoLettersOfTheSameTextDiffer) {
  SeededEntropy entropy(4, "letters");
  const auto seal = [&] {
    return Sealed::seal(kKey, kCharter, some_head(), some_message(40), entropy);
  };
  EXPECT_NE(seal().box(), seal().box());
}

TEST(Sealed, OddSizesAreRefused) {
  const Sealed::Nonce nonce{};
  EXPECT_FALSE(Sealed::received(some_head(), nonce, Bytes(15)));
  EXPECT_TRUE(Sealed::received(some_head(), nonce, Bytes(16)));
  EXPECT_TRUE(Sealed::received(some_head(), nonce, Bytes(kPieceBytesMax + 16)));
  EXPECT_FALSE(Sealed::received(some_head(), nonce, Bytes(kPieceBytesMax + 17)));
  EXPECT_FALSE(Sealed::received(some_head(), Bytes(23), Bytes(16)));
  LetterHead head = some_head();
  head.part = 1;
  EXPECT_FALSE(Sealed::received(head, nonce, Bytes(16)));
  head.parts = kPiecesMax + 1;
  EXPECT_FALSE(Sealed::received(head, nonce, Bytes(16)));
}

TEST(SharingMessages, ComeBack) {
  SeededEntropy entropy(5, "letters");
  const Envelope envelope{kCharter, 9};
  const Sealed letter = Sealed::seal(kKey, kCharter, some_head(), some_message(9), entropy);
  const auto up = decode_from_owner(encode(envelope, Letter{letter, Leg::kUp}));
  const auto down = decode_to_owner(encode(envelope, Letter{letter, Leg::kDown}));
  ASSERT_TRUE(up && down);
  EXPECT_EQ(*std::get<Sealed>(up->body).open(kKey, kCharter), some_message(9));
  EXPECT_EQ(std::get<Sealed>(down->body).head(), some_head());

  const VerticalHello said{Hash{1}, Hash{2}, Hash{3}, Signature{4}, 5};
  const auto hello = decode_from_owner(encode(envelope, Hello{kVersion, 2, said}));
  ASSERT_TRUE(hello);
  EXPECT_EQ(std::get<Hello>(hello->body).sharing, said);

  const Session session{2, 3, {{"one", Hash{1}, Signature{2}}, {"two", Hash{3}, {}}}};
  const auto begun = decode_to_owner(encode(envelope, session));
  ASSERT_TRUE(begun);
  EXPECT_EQ(std::get<Session>(begun->body).peers, session.peers);
  EXPECT_EQ(std::get<Session>(begun->body).first_round, 3u);

  const DealerShare share{2, 3, Secret32{9}, {1, ~uint64_t{0}, 5}};
  const auto dealt = decode_to_owner(encode(envelope, share));
  ASSERT_TRUE(dealt);
  EXPECT_EQ(std::get<DealerShare>(dealt->body).correction, share.correction);
  EXPECT_EQ(std::get<DealerShare>(dealt->body).seed, share.seed);

  const ModelPart part{"one", Hash{6}, 3};
  const auto given = decode_from_owner(encode(envelope, part));
  ASSERT_TRUE(given);
  EXPECT_EQ(std::get<ModelPart>(given->body), part);
  const auto told = decode_to_owner(encode(envelope, Finished{Hash{1}, {part}}));
  ASSERT_TRUE(told);
  EXPECT_EQ(std::get<Finished>(told->body).parts, std::vector{part});
}

/// Mutated bytes give a message or an error, never a crash: 20,000.
TEST(SharingMessages, SurviveHostileBytes) {
  SeededEntropy entropy(6, "hostile");
  const Envelope envelope{kCharter, 9};
  const Sealed letter = Sealed::seal(kKey, kCharter, some_head(), some_message(9), entropy);
  const Bytes seeds[] = {
      encode(envelope, Letter{letter, Leg::kUp}),
      encode(envelope, Letter{letter, Leg::kDown}),
      encode(envelope,
             Hello{kVersion, 2, VerticalHello{Hash{1}, Hash{2}, Hash{3}, Signature{}, 5}}),
      encode(envelope, Session{2, 3, {{"one", Hash{1}, Signature{2}}}}),
      encode(envelope, DealerShare{2, 3, Secret32{9}, {1, 2}}),
      encode(envelope, ModelPart{"one", Hash{6}})};
  size_t refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes = seeds[entropy.word() % std::size(seeds)];
    for (uint64_t edits = 1 + entropy.word() % 4; edits > 0; --edits) {
      const size_t place = entropy.word() % bytes.size();
      if (entropy.word() % 4 == 0)
        bytes.resize(place + 1);
      else
        bytes[place] = uint8_t(entropy.word());
    }
    refused += !decode_to_owner(bytes) && !decode_from_owner(bytes);
  }
  EXPECT_GT(refused, 5'000u);
}

}  // namespace sealed_test
}  // namespace parley::wire
