#include "parley/protocol/vertical/owner.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>

#include "parley/protocol/make_owner.h"
#include "parley/protocol/vertical/learner.h"
#include "support/columns_charter.h"
#include "support/entropy.h"
#include "support/ledgers.h"
#include "support/memory_ledger.h"

namespace parley::protocol {
namespace vertical_owner_test {

constexpr size_t kRecords = 40;

/// Three owners of columns and a learner, whose words can be changed on the way.
struct Agencies {
  explicit Agencies(const std::string& rule)
      : charter(
            *charter::parse_charter(test::columns_charter(1, kRecords, rule), "columns.toml", {})),
        learner(*vertical_plan(charter), Secret32{9}) {
    for (size_t i = 0; i < 3; ++i) owners.push_back(std::make_unique<Agency>(charter, i));
  }

  struct Agency {
    test::StoppedClock clock;
    test::SeededEntropy entropy;
    ledger::Ledger ledger;
    std::unique_ptr<Owner> process;

    Agency(const charter::Charter& charter, size_t place)
        : entropy(1, charter.owners[place].name),
          ledger(test::memory_ledger(charter.owners[place].name, clock)) {
      auto rows = std::make_shared<data::Rows>(2);
      for (size_t i = 0; i < kRecords; ++i)
        rows->add(std::array{.01 * double(i), -.3}, i % 2 ? 1. : -1.);
      const auto dataset =
          *ledger.declare("data", *privacy::Budget::make(privacy::Epsilon{2.0}, 1e-5, 0));
      process = *make_owner({.charter = charter,
                             .place = place,
                             .records = gate::Records(
                                 data::AnyRows(std::shared_ptr<const data::Rows>(std::move(rows)))),
                             .ledger = ledger,
                             .dataset = dataset,
                             .entropy = entropy,
                             .columns = {.records = Hash{1}, .training = {.seed = 1}}});
    }
  };

  void hear(size_t owner, const Bytes& message) {
    auto step = learner.step(owner, message);
    ASSERT_TRUE(step) << describe(step.error());
    for (Outgoing& each : step->messages) post.push_back(std::move(each));
  }

  /// Until nobody says anything, or an owner is told what it does not take.
  std::optional<Error> run(const std::function<Bytes(const Outgoing&)>& on_the_way) {
    for (size_t i = 0; i < 3; ++i) learner.attend(i), hear(i, owners[i]->process->connect());
    for (; !post.empty(); post.pop_front()) {
      Owner& owner = *owners[post.front().owner]->process;
      const size_t from = post.front().owner;
      const auto reply = owner.step(on_the_way(post.front()));
      if (!reply) return reply.error();
      if (*reply) hear(from, **reply);
      while (const auto more = owner.more()) hear(from, *more);
    }
    return std::nullopt;
  }

  charter::Charter charter;
  VerticalLearner learner;
  std::vector<std::unique_ptr<Agency>> owners{};
  std::deque<Outgoing> post{};
};

class VerticalOwnerRules : public testing::TestWithParam<std::string> {};

// Masks and noise of two rounds would be the same, and their difference open.
TEST_P(VerticalOwnerRules, RefusesARoundThatHasTheSeedOfAnother) {
  Agencies honest(GetParam());
  const auto nothing_wrong = honest.run([](const Outgoing& letter) { return letter.message; });
  EXPECT_FALSE(nothing_wrong) << describe(*nothing_wrong);
  EXPECT_TRUE(honest.learner.finished());
  Agencies cheated(GetParam());
  Secret32 first{};
  const auto refused = cheated.run([&](const Outgoing& letter) {
    const auto message = wire::decode_to_owner(letter.message);
    const auto* share = std::get_if<wire::DealerShare>(&message->body);
    if (share == nullptr || letter.owner != 0) return letter.message;
    if (share->round == 1) first = share->seed;
    if (share->round != 2) return letter.message;
    wire::DealerShare again = *share;
    again.seed = first;
    return wire::encode(message->envelope, again);
  });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, Code::kIntegrity);
  EXPECT_NE(refused->what.find("the seed of round 1"), std::string::npos) << refused->what;
  EXPECT_EQ(cheated.owners[0]->ledger.last_round(cheated.charter.hash), 1u);
}

INSTANTIATE_TEST_SUITE_P(OfMoreThanOneRound, VerticalOwnerRules,
                         testing::Values("gradients", "noisy_sharing"));

}  // namespace vertical_owner_test
}  // namespace parley::protocol
