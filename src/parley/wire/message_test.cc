#include "parley/wire/message.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <set>

#include "parley/ledger/ledger.h"
#include "parley/ledger/simulated.h"
#include "parley/wire/stream.h"
#include "parley/wire/transcript.h"
#include "proto/parley.pb.h"
#include "support/entropy.h"
#include "support/ledgers.h"

namespace parley::wire {
namespace message_test {

using test::StoppedClock, test::SeededEntropy;

static_assert(Sendable<Hello> && Sendable<Welcome> && Sendable<Abort>);
static_assert(Sendable<Query> && Sendable<Answer> && Sendable<Refusal> && Sendable<Finished>);
static_assert(!Sendable<privacy::Raw<int>> && !Sendable<privacy::Bounded<L1>>);
static_assert(!Sendable<std::vector<double>> && !Sendable<std::vector<int64_t>>);
static_assert(!Sendable<privacy::Drawn<privacy::Laplace>>);

Envelope some_envelope() {
  Envelope envelope{.charter = {}, .sequence = 3};
  envelope.charter.fill(0xAB);
  return envelope;
}

/// An answer as an owner's ledger releases it.
privacy::Released some_answer() {
  StoppedClock clock;
  SeededEntropy entropy(1, "answer");
  ledger::Ledger ledger = *ledger::Ledger::open_volatile("bank-a", clock, ledger::Simulated{});
  const auto data = *ledger.declare("loans", *privacy::Budget::make(privacy::Epsilon{1.0}, 0, 1));
  const auto laplace = *privacy::Laplace::make(100);
  return *ledger.pay(data, {{}, 1, {}},
                     bounded_for_test({0, -5, std::numeric_limits<int64_t>::max() / 2}, 10),
                     privacy::Drawn(laplace, 3, entropy));
}

TEST(Message, QueriesComeBackBitForBit) {
  const std::vector<double> theta = {0.1, -0.0, 5e-324, 1e300};
  const Query query{7, privacy::Public::from_model(theta)};
  const auto received = decode_to_owner(encode(some_envelope(), query));
  ASSERT_TRUE(received);
  EXPECT_EQ(received->envelope.charter, some_envelope().charter);
  EXPECT_EQ(received->envelope.sequence, 3u);
  const auto& body = std::get<ReceivedQuery>(received->body);
  EXPECT_EQ(body.round, 7u);
  ASSERT_EQ(body.theta.size(), theta.size());
  EXPECT_EQ(std::memcmp(body.theta.data(), theta.data(), 8 * theta.size()), 0);
}

TEST(Message, WhatIsAskedForComesBackAndNothingElseIsAskedFor) {
  for (const auto kind : {privacy::ReleaseKind::kAnswer, privacy::ReleaseKind::kEvaluation,
                          privacy::ReleaseKind::kCount}) {
    const Query query{1, privacy::Public::from_model({.5}), kind};
    const auto received = decode_to_owner(encode(some_envelope(), query));
    ASSERT_TRUE(received);
    EXPECT_EQ(std::get<ReceivedQuery>(received->body).kind, kind);
  }
  v1::ToOwner proto;
  proto.set_charter(std::string(32, 'x'));
  proto.mutable_query()->set_round(1);
  for (const char* kind : {"answers", "Evaluation", "evaluation ", "0"}) {
    proto.mutable_query()->set_kind(kind);
    const std::string bytes = proto.SerializeAsString();
    const auto refused = decode_to_owner(as_bytes(bytes));
    ASSERT_FALSE(refused) << kind;
    EXPECT_EQ(refused.error().code, Code::kIntegrity);
  }
}

TEST(Message, ClaimsAndGrantsComeBack) {
  const auto claim = decode_from_owner(encode(some_envelope(), Claim{7}));
  ASSERT_TRUE(claim);
  EXPECT_EQ(std::get<Claim>(claim->body).round, 7u);
  for (const bool granted : {false, true}) {
    const auto grant = decode_to_owner(encode(some_envelope(), Grant{7, granted}));
    ASSERT_TRUE(grant);
    EXPECT_EQ(std::get<Grant>(grant->body).round, 7u);
    EXPECT_EQ(std::get<Grant>(grant->body).granted, granted);
  }
}

TEST(Message, AnswersComeBackWithTheirReceipt) {
  const privacy::Released released = some_answer();
  const Signature signature{7, 8, 9};
  const auto received = decode_from_owner(encode(some_envelope(), Answer{released, signature}));
  ASSERT_TRUE(received);
  const auto& body = std::get<ReceivedAnswer>(received->body);
  EXPECT_EQ(body.values, released.values());
  EXPECT_EQ(body.receipt, released.receipt());
  EXPECT_EQ(body.signature, signature);
}

TEST(Message, GreetingsAndFarewellsComeBack) {
  const auto hello = decode_from_owner(encode(some_envelope(), Hello{kVersion, 12}));
  ASSERT_TRUE(hello);
  EXPECT_EQ(std::get<Hello>(hello->body).version, kVersion);
  EXPECT_EQ(std::get<Hello>(hello->body).last_round, 12u);
  const auto welcome = decode_to_owner(encode(some_envelope(), Welcome{kVersion, 13}));
  ASSERT_TRUE(welcome);
  EXPECT_EQ(std::get<Welcome>(welcome->body).next_round, 13u);
  const auto abort = decode_to_owner(encode(some_envelope(), Abort{Code::kPolicy, "no"}));
  ASSERT_TRUE(abort);
  EXPECT_EQ(std::get<Abort>(abort->body).code, Code::kPolicy);
}

TEST(Message, ApprovalsComeBackWholeOrNotAtAll) {
  Signature one{}, other{};
  one.fill(1), other.fill(2);
  const auto hello = decode_from_owner(encode(some_envelope(), Hello{kVersion, 0, {}, one}));
  ASSERT_TRUE(hello);
  EXPECT_EQ(std::get<Hello>(hello->body).approval, one);
  const Query query{
      1, privacy::Public::from_model({0}), privacy::ReleaseKind::kAnswer, {one, other}};
  const auto asked = decode_to_owner(encode(some_envelope(), query));
  ASSERT_TRUE(asked);
  EXPECT_EQ(std::get<ReceivedQuery>(asked->body).approvals, query.approvals);
  v1::ToOwner torn;
  torn.set_charter(std::string(32, 'x'));
  torn.mutable_query()->set_approvals(std::string(100, 'x'));
  EXPECT_FALSE(decode_to_owner(as_bytes(torn.SerializeAsString())));
  v1::FromOwner short_one;
  short_one.set_charter(std::string(32, 'x'));
  short_one.mutable_hello()->set_approval("x");
  EXPECT_FALSE(decode_from_owner(as_bytes(short_one.SerializeAsString())));
}

// Journals and transcripts of the first version have the same entries.
TEST(Transcript, OfAnEarlierVersionIsReadAndOfALaterOneIsNot) {
  for (const uint32_t version : {0u, 1u, kVersion, kVersion + 1}) {
    v1::TranscriptHead head;
    head.set_version(version);
    head.set_charter(std::string(32, 'x'));
    head.set_started("2026-11-15T08:00:00Z");
    const std::string text = head.SerializeAsString();
    Bytes bytes(8);
    bytes[0] = static_cast<uint8_t>(text.size());
    bytes.insert(bytes.end(), text.begin(), text.end());
    const auto read = parse_transcript(bytes);
    EXPECT_EQ(bool(read), version == 1 || version == kVersion) << version;
    if (version > kVersion) {
      EXPECT_EQ(read.error().what, "is of version 3; this program knows versions up to 2");
    }
  }
}

TEST(Transcript, AnApprovalComesBack) {
  Signature signature{};
  signature.fill(3);
  const Note note{.kind = Note::Kind::kApproved, .owner = "one", .approval = signature};
  Bytes bytes = transcript_head({}, "2026-11-15T08:00:00Z");
  const Bytes entry = transcript_note(note);
  bytes.insert(bytes.end(), entry.begin(), entry.end());
  const auto read = parse_transcript(bytes);
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(read->notes, std::vector<Note>{note});
}

// What a peer says is written to a log.
TEST(Message, APeersWordsAreShortPlainText) {
  const std::string hostile = "no\n2026-11-15 all is well\x1b[2J" + std::string(10'000, 'x');
  const auto received = decode_from_owner(encode(some_envelope(), Refusal{Code::kPolicy, hostile}));
  const std::string text = std::get<Refusal>(received->body).text;
  EXPECT_TRUE(text.starts_with("no\\u000a2026-11-15 all is well\\u001b[2Jxxx")) << text;
  EXPECT_EQ(text.size(), 500u + 2 * 5) << "cut before two bytes became escapes";
}

TEST(Message, TheSignedBytesChangeWithEveryField) {
  const privacy::Receipt receipt = some_answer().receipt();
  std::set<Bytes> seen = {signed_bytes({}, "bank-a", receipt)};
  const auto add = [&](auto change) {
    privacy::Receipt changed = receipt;
    change(changed);
    EXPECT_TRUE(seen.insert(signed_bytes({}, "bank-a", changed)).second);
  };
  EXPECT_TRUE(seen.insert(signed_bytes({1}, "bank-a", receipt)).second);
  EXPECT_TRUE(seen.insert(signed_bytes({}, "bank-b", receipt)).second);
  add([](auto& r) { ++r.round; });
  add([](auto& r) { r.event += " "; });
  add([](auto& r) { r.epsilon_spent /= 2; });
  add([](auto& r) { r.delta_spent = 1e-9; });
  add([](auto& r) { r.chain[31] ^= 1; });
  add([](auto& r) { r.query[31] ^= 1; });
  add([](auto& r) { r.answer[31] ^= 1; });
}

TEST(Message, RefusalsKeepTheirCode) {
  for (Code code : {Code::kInvalid, Code::kBudgetExhausted, Code::kPolicy, Code::kUnavailable,
                    Code::kIntegrity, Code::kFailed}) {
    const auto received = decode_from_owner(encode(some_envelope(), Refusal{code, "no"}));
    ASSERT_TRUE(received);
    EXPECT_EQ(std::get<Refusal>(received->body).code, code);
    EXPECT_EQ(std::get<Refusal>(received->body).text, "no");
  }
}

TEST(Message, WhatAnOwnerSendsIsNotTakenFromALearner) {
  EXPECT_FALSE(
      decode_from_owner(encode(some_envelope(), Query{1, privacy::Public::from_model({.5})})));
  EXPECT_FALSE(decode_to_owner(encode(some_envelope(), Refusal{Code::kPolicy, "no"})));
}

TEST(Message, MalformedFieldsAreNamed) {
  v1::FromOwner proto;
  proto.set_charter("short");
  const auto decoded = [&] {
    const std::string bytes = proto.SerializeAsString();
    return decode_from_owner(as_bytes(bytes));
  };
  EXPECT_NE(decoded().error().what.find("charter"), std::string::npos);
  proto.set_charter(std::string(32, 'x'));
  proto.mutable_answer()->set_values("seven b");
  EXPECT_NE(decoded().error().what.find("8 bytes"), std::string::npos);
  proto.mutable_answer()->set_values(std::string(16, 'v'));
  EXPECT_NE(decoded().error().what.find("receipt.chain"), std::string::npos);
  EXPECT_EQ(decoded().error().code, Code::kIntegrity);
  EXPECT_FALSE(decode_from_owner(Bytes(kMessageBytesMax + 1)));
  EXPECT_FALSE(decode_to_owner(Bytes{}));
}

// Mutated and random bytes give a message or an error, never a crash: 20,000 of each kind.
TEST(Message, SurvivesHostileBytes) {
  SeededEntropy entropy(9, "hostile");
  const Bytes seeds[] = {encode(some_envelope(), Query{7, privacy::Public::from_model({1, 2, 3})}),
                         encode(some_envelope(), Answer{some_answer()}),
                         encode(some_envelope(), Refusal{Code::kPolicy, "waits for a person"})};
  size_t refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes = seeds[entropy.word() % 3];
    for (uint64_t edits = 1 + entropy.word() % 4; edits > 0; --edits) {
      const size_t place = entropy.word() % bytes.size();
      if (entropy.word() % 4 == 0)
        bytes.resize(place + 1);
      else
        bytes[place % bytes.size()] = uint8_t(entropy.word());
    }
    refused += !decode_to_owner(bytes) && !decode_from_owner(bytes);
    for (uint8_t& byte : bytes) byte = uint8_t(entropy.word());
    refused += !decode_to_owner(bytes) && !decode_from_owner(bytes);
  }
  EXPECT_GT(refused, 20'000u);
}

TEST(Stream, RefusesLostRepeatedAndForeignMessages) {
  const Hash charter = some_envelope().charter;
  Stream sender(charter), receiver(charter), stranger(Hash{});
  const Query query{1, privacy::Public::from_model({.5})};
  const Bytes first = sender.send(query), second = sender.send(query), third = sender.send(query);
  ASSERT_TRUE(receiver.receive_to_owner(first));
  EXPECT_EQ(receiver.receive_to_owner(first).error().code, Code::kIntegrity);
  EXPECT_EQ(receiver.receive_to_owner(third).error().code, Code::kIntegrity);
  EXPECT_EQ(receiver.receive_to_owner(stranger.send(query)).error().code, Code::kIntegrity);
  EXPECT_TRUE(receiver.receive_to_owner(second));
  Stream fresh(charter);
  EXPECT_EQ(fresh.receive_to_owner(stranger.send(query)).error().code, Code::kUnavailable)
      << "another job is at this address";
}

}  // namespace message_test
}  // namespace parley::wire
