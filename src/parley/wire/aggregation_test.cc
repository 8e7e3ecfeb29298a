#include "parley/wire/aggregation.h"

#include <gtest/gtest.h>

#include <functional>

#include "parley/ledger/ledger.h"
#include "parley/ledger/simulated.h"
#include "parley/wire/message.h"
#include "proto/parley.pb.h"
#include "support/entropy.h"
#include "support/ledgers.h"

namespace parley::wire {
namespace aggregation_test {

static_assert(Sendable<FromMember> && Sendable<ToMember> && Sendable<MaskedPart>);
static_assert(!Sendable<privacy::Mask> && !Sendable<privacy::Masked>);
static_assert(!Sendable<privacy::Drawn<privacy::GaussianShare>>);

const Envelope kEnvelope{.charter = {7}, .sequence = 3};

MemberKeys some_keys(const std::string& owner) {
  MemberKeys keys{.owner = owner};
  keys.seal_key.fill(1), keys.mask_key.fill(2), keys.signature.fill(3);
  if (owner == "clinic-a") keys.commitment = Hash{4};
  return keys;
}
SealedShareList some_shares() {
  return {{{"", "b", Bytes(kSealedShareBytes, 4)}, {"a", "", Bytes(kSealedShareBytes, 5)}}};
}
OpenedShareList some_opened() {
  OpenedShareList list{{{"b", false, {.x = 200}}, {"c", true, {.x = 1}}}};
  list.shares[0].share.y.fill(9);
  return list;
}
MemberConsent some_consent(const std::string& owner) {
  MemberConsent consent{.owner = owner};
  consent.signature.fill(8);
  return consent;
}

template <class T>
void expect_up(const T& step) {
  const auto received = decode_from_owner(encode(kEnvelope, FromMember{11, step}));
  ASSERT_TRUE(received) << describe(received.error());
  const auto& body = std::get<ReceivedFromMember>(received->body);
  EXPECT_EQ(body.attempt, 11u);
  EXPECT_EQ(std::get<T>(body.step), step);
}
template <class T>
void expect_down(const T& step) {
  const auto received = decode_to_owner(encode(kEnvelope, ToMember{11, step}));
  ASSERT_TRUE(received) << describe(received.error());
  const auto& body = std::get<ToMember>(received->body);
  EXPECT_EQ(body.attempt, 11u);
  EXPECT_EQ(std::get<T>(body.step), step);
}

TEST(AggregationMessage, EveryStepComesBackAsItWas) {
  expect_up(some_keys("clinic-a"));
  expect_up(RevealedNumber{{7, 8}});
  expect_up(some_shares());
  expect_up(some_consent("clinic-a"));
  expect_up(some_opened());
  expect_down(CommitmentsHash{{3, 4}});
  expect_down(NeighbourKeyList{{some_keys("b"), some_keys("c")}, {5, 6}, {}, {}});
  expect_down(NeighbourKeyList{{some_keys("b")}, {5, 6}, {3, 1}, {Hash{1}, Hash{2}, Hash{3}}});
  expect_down(some_shares());
  expect_down(SurvivorList{{7, 1}, {}});
  expect_down(SurvivorList{{0, 5}, {Signature{1}, Signature{2}}});
}

TEST(AggregationMessage, AMaskedVectorComesBackWithItsReceipt) {
  test::StoppedClock clock;
  test::SeededEntropy entropy(1, "part");
  ledger::Ledger ledger = *ledger::Ledger::open_volatile("clinic-a", clock, ledger::Simulated{});
  const auto data = *ledger.declare("data", *privacy::Budget::make(privacy::Epsilon{1.0}, 1e-6, 0));
  const auto parties = *privacy::Parties::make(3, 3, 1);
  const auto share = *privacy::GaussianShare::make(1e6, parties, 2);
  const auto masked =
      ledger.pay_share(data, {{}, 1, {}}, privacy::BoundedForTest::make<L2>({1, -2}, 10),
                       privacy::Drawn(share, 2, entropy), privacy::MaskForTest::make({~0ull, 1}));
  ASSERT_TRUE(masked) << describe(masked.error());
  const auto received = decode_from_owner(encode(kEnvelope, MaskedPart{4, *masked, Signature{1}}));
  ASSERT_TRUE(received);
  const auto& body = std::get<ReceivedFromMember>(received->body);
  EXPECT_EQ(body.attempt, 4u);
  const auto& answer = std::get<ReceivedAnswer>(body.step);
  EXPECT_EQ(answer.values, masked->values());
  EXPECT_EQ(answer.receipt, masked->receipt());
  EXPECT_EQ(answer.round, 1u);
  EXPECT_EQ(answer.signature, Signature{1});
}

TEST(AggregationMessage, FieldsOfWrongSizesAndListsThatAreTooLongAreRefused) {
  using Change = std::function<void(v1::Aggregation&)>;
  const auto up = [](const FromMember& message, const Change& change) {
    const Bytes bytes = encode(kEnvelope, message);
    v1::FromOwner proto;
    EXPECT_TRUE(proto.ParseFromArray(bytes.data(), int(bytes.size())));
    change(*proto.mutable_aggregation());
    const std::string text = proto.SerializeAsString();
    return bool(decode_from_owner(as_bytes(text)));
  };
  const FromMember keys{1, some_keys("a")}, shares{1, some_shares()}, consent{1, some_consent("a")},
      opened{1, some_opened()};
  EXPECT_TRUE(up(keys, [](v1::Aggregation&) {}));
  EXPECT_FALSE(up(keys, [](v1::Aggregation& a) { a.mutable_keys()->set_c_pk("short"); }));
  EXPECT_FALSE(up(keys, [](v1::Aggregation& a) { a.mutable_keys()->set_signature("short"); }));
  EXPECT_FALSE(up(keys, [](v1::Aggregation& a) { a.mutable_keys()->set_owner(""); }));
  EXPECT_FALSE(
      up(keys, [](v1::Aggregation& a) { a.mutable_keys()->set_owner(std::string(201, 'a')); }));
  EXPECT_FALSE(up(keys, [](v1::Aggregation& a) { a.mutable_keys()->set_commitment("short"); }));
  EXPECT_FALSE(up(keys, [](v1::Aggregation& a) { a.clear_keys(); }));
  EXPECT_FALSE(up(keys, [](v1::Aggregation& a) { a.mutable_reveal()->set_number("short"); }));
  EXPECT_FALSE(up(shares, [](v1::Aggregation& a) {
    a.mutable_shares()->mutable_share(0)->set_box("not sealed");
  }));
  EXPECT_FALSE(up(shares, [](v1::Aggregation& a) {
    for (int i = 0; i < 255; ++i) *a.mutable_shares()->add_share() = a.shares().share(0);
  }));
  EXPECT_FALSE(up(consent, [](v1::Aggregation& a) { a.mutable_consent()->set_signature(""); }));
  EXPECT_FALSE(up(opened, [](v1::Aggregation& a) { a.mutable_unmask()->add_of_key(true); }));
  EXPECT_FALSE(up(opened, [](v1::Aggregation& a) { a.mutable_unmask()->set_share(0, "x"); }));
  EXPECT_FALSE(up(keys, [](v1::Aggregation& a) { a.mutable_survivors()->set_present("a"); }));
}

TEST(AggregationMessage, ListsOfALearnerThatDoNotFitAreRefused) {
  using Change = std::function<void(v1::Aggregation&)>;
  const auto down = [](const ToMember& message, const Change& change) {
    const Bytes bytes = encode(kEnvelope, message);
    v1::ToOwner proto;
    EXPECT_TRUE(proto.ParseFromArray(bytes.data(), int(bytes.size())));
    change(*proto.mutable_aggregation());
    const std::string text = proto.SerializeAsString();
    return bool(decode_to_owner(as_bytes(text)));
  };
  const ToMember keys{1, NeighbourKeyList{{some_keys("b")}, {5}, {3}, {Hash{1}, Hash{2}}}};
  const ToMember consents{1, SurvivorList{{3}, {Signature{1}, Signature{2}}}};
  EXPECT_TRUE(down(keys, [](v1::Aggregation&) {}));
  EXPECT_TRUE(down(consents, [](v1::Aggregation&) {}));
  EXPECT_FALSE(down(keys, [](v1::Aggregation& a) { a.mutable_keys()->set_present("\7"); }));
  EXPECT_FALSE(down(keys, [](v1::Aggregation& a) { a.mutable_keys()->set_numbers("short"); }));
  EXPECT_FALSE(down(keys, [](v1::Aggregation& a) { a.mutable_commitments()->set_sha256("x"); }));
  EXPECT_FALSE(
      down(consents, [](v1::Aggregation& a) { a.mutable_survivors()->set_signatures("x"); }));
  EXPECT_FALSE(
      down(consents, [](v1::Aggregation& a) { a.mutable_survivors()->set_present("\1"); }));
  EXPECT_FALSE(down(consents, [](v1::Aggregation& a) {
    a.mutable_survivors()->set_present(std::string(12'501, '\0'));
  }));
}

}  // namespace aggregation_test
}  // namespace parley::wire
