#include "parley/protocol/peers/gossip.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>

#include "support/gossip_node.h"

namespace parley::protocol {
namespace gossip_test {

using test::kAnswers, test::key_of, test::some_plan, test::TestOwner;

/// The two owners of the tiny job as neighbours, with their keys.
struct Pair {
  TestOwner one{1, 1e4}, two{2, 1e4};
  std::vector<std::unique_ptr<GossipNode>> nodes{};
  std::deque<std::pair<size_t, Whisper>> post{};  // from whom

  Pair() { open(0, one), open(1, two); }
  /// A process: the first, or another.
  void open(size_t self, TestOwner& owner) {
    nodes.resize(2);
    nodes[self] = test::gossip_node(some_plan(), self, owner, key_of(int(self) + 1));
  }
  /// Its first answer: after a greeting of the other, whose own is lost.
  std::vector<Whisper> first_words(size_t self) {
    const auto hello = *nodes[self]->start();
    const auto welcome = *nodes[1 - self]->step(self, hello[0].message);
    return *nodes[self]->step(1 - self, welcome[0].message);
  }
  void send(size_t from, Result<std::vector<Whisper>> whispers) {
    ASSERT_TRUE(whispers) << describe(whispers.error());
    for (Whisper& each : *whispers) post.emplace_back(from, std::move(each));
  }
  void start() { send(0, nodes[0]->start()), send(1, nodes[1]->start()); }
  void deliver_all() {
    while (!post.empty()) {
      const auto [from, letter] = std::move(post.front());
      post.pop_front();
      send(letter.to, nodes[letter.to]->step(from, letter.message));
    }
  }
};

TEST(GossipNode, TwoOwnersComeToTheReferenceWithoutALearner) {
  Pair pair;
  pair.start();
  pair.deliver_all();
  for (const auto& node : pair.nodes) {
    ASSERT_TRUE(node->finished());
    for (size_t j = 0; j < 2; ++j)
      EXPECT_NEAR(node->learner().model()[j], test::tiny_reference()[j], .05);
  }
  EXPECT_EQ(model_hash(pair.nodes[0]->learner().model()),
            model_hash(pair.nodes[1]->learner().model()));
  EXPECT_EQ(pair.one.ledger.last_round(some_plan().charter), kAnswers);
}

// A neighbour may pass on what others signed, and nothing else.
TEST(GossipNode, AnAnswerThatWasChangedOnTheWayIsRefusedAndChangesNothing) {
  Pair pair;
  pair.first_words(1);
  const auto first = pair.first_words(0);
  const Bytes as_sent = wire::encode({.answer = wire::decode_gossip(first[0].message)->answer});
  size_t refused = 0;
  for (size_t at = 0; at < first[0].message.size(); ++at) {
    Bytes changed = first[0].message;
    changed[at] ^= 0x10;
    const auto read = wire::decode_gossip(changed);
    if (read && read->charter == some_plan().charter && read->answer &&
        wire::encode({.answer = read->answer}) == as_sent)
      continue;  // Where the sender stands is not signed.
    const auto result = pair.nodes[1]->step(0, changed);
    EXPECT_TRUE(result || result.error().code == Code::kIntegrity);
    refused += !result;
    EXPECT_EQ(pair.nodes[1]->learner().rounds_done(), 0u);
  }
  EXPECT_GT(refused, first[0].message.size() * 9 / 10);
  ASSERT_TRUE(pair.nodes[1]->step(0, first[0].message));
  EXPECT_EQ(pair.nodes[1]->learner().rounds_done(), 1u);
}

TEST(GossipNode, ARefusalReachesTheOthersAlsoThoseThatMissedIt) {
  Pair pair;
  // Two's budget is spent behind its back, after its gate opened.
  ASSERT_TRUE(
      test::pay(pair.two.ledger, pair.two.dataset, test::some_query("other", 1), 10, 9.5e4));
  pair.first_words(0), pair.first_words(1);
  ASSERT_TRUE(pair.nodes[1]->refused());
  EXPECT_EQ(pair.nodes[1]->refused()->code, Code::kBudgetExhausted);
  pair.post.clear();  // Its words are lost, but one that asks is told.
  pair.send(0, pair.nodes[0]->remind());
  pair.deliver_all();
  ASSERT_TRUE(pair.nodes[0]->refused());
  EXPECT_NE(pair.nodes[0]->refused()->what.find("two refused"), std::string::npos);
  EXPECT_FALSE(pair.nodes[0]->finished());
}

// Nothing is paid before every neighbour has shown what it holds of this owner.
TEST(GossipNode, AnOwnerWhoseLedgerHasForgottenAnAnswerIsShownItsReceiptAndStops) {
  Pair pair;
  pair.first_words(0);
  const auto answer = pair.first_words(1);
  ASSERT_TRUE(pair.nodes[0]->step(1, answer[0].message));
  TestOwner restored{2, 1e4};  // The same owner with the ledger of yesterday.
  pair.open(1, restored);
  const auto hello = *pair.nodes[1]->start();
  EXPECT_EQ(restored.ledger.last_round(some_plan().charter), 0u) << "it has paid before a welcome";
  const auto welcome = *pair.nodes[0]->step(1, hello[0].message);
  const auto told = pair.nodes[1]->step(0, welcome[0].message);
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, Code::kIntegrity);
  ASSERT_TRUE(pair.nodes[1]->stopped());
  EXPECT_EQ(restored.ledger.last_round(some_plan().charter), 0u);
}

// Nor after an earlier job: a neighbour remembers.
TEST(GossipNode, AnOwnerWhoseLedgerHasForgottenAnEarlierJobStops) {
  Pair pair;
  wire::Proof earlier{.charter = {7}, .receipt = {.round = 1, .event = "{}", .chain = {5}}};
  earlier.signature = key_of(2).sign(wire::signed_bytes(earlier.charter, "two", earlier.receipt));
  pair.nodes[0]->remember(1, earlier);
  const auto hello = *pair.nodes[1]->start();
  const auto welcome = *pair.nodes[0]->step(1, hello[0].message);
  EXPECT_FALSE(pair.nodes[1]->step(0, welcome[0].message));
  EXPECT_TRUE(pair.nodes[1]->stopped());
  EXPECT_EQ(pair.two.ledger.last_round(some_plan().charter), 0u);
}

TEST(GossipNode, AReceiptThatThisOwnerDidNotSignIsTheNeighboursFault) {
  Pair pair;
  pair.first_words(0), pair.first_words(1);
  const wire::Gossip forged{.charter = some_plan().charter,
                            .round = 1,
                            .welcome = wire::kVersion,
                            .proofs = {{.charter = some_plan().charter}}};
  EXPECT_FALSE(pair.nodes[0]->step(1, encode(forged)));
  EXPECT_FALSE(pair.nodes[0]->stopped());
}

TEST(GossipNode, GoesOnFromItsJournalAndSuppliesOthersFromIt) {
  Pair pair;
  pair.start();
  pair.deliver_all();
  wire::Transcript journal{.charter = some_plan().charter};
  for (size_t k = 0; k < pair.nodes[0]->completed(); ++k)
    for (const wire::Entry& entry : pair.nodes[0]->completed(k)) journal.entries.push_back(entry);
  EXPECT_EQ(journal.entries.size(), 2 * kAnswers);
  const auto model = model_hash(pair.nodes[0]->learner().model());
  pair.open(0, pair.one);
  ASSERT_TRUE(pair.nodes[0]->restore(journal));
  EXPECT_TRUE(pair.nodes[0]->finished());
  EXPECT_EQ(model_hash(pair.nodes[0]->learner().model()), model);
  pair.open(1, pair.two);  // It has lost everything but its ledger.
  pair.start();
  pair.deliver_all();
  pair.send(1, pair.nodes[1]->remind());
  while (!pair.nodes[1]->finished()) {
    pair.deliver_all();
    pair.send(1, pair.nodes[1]->remind());
  }
  pair.deliver_all();
  EXPECT_EQ(model_hash(pair.nodes[1]->learner().model()), model);
  EXPECT_TRUE(pair.nodes[0]->may_leave() && pair.nodes[1]->may_leave());
  journal.entries[0].answer.values[0] += 1;
  pair.open(0, pair.one);
  EXPECT_FALSE(pair.nodes[0]->restore(journal)) << "it was changed";
}

TEST(GossipNode, OneThatIsBehindCatchesUpWithNeighboursThatOnlySayWhereTheyAre) {
  Pair pair;
  pair.start();
  pair.deliver_all();
  const auto model = model_hash(pair.nodes[0]->learner().model());
  pair.open(1, pair.two);  // Its journal is lost, and it never reminds anyone.
  pair.send(1, pair.nodes[1]->start());
  pair.deliver_all();
  ASSERT_TRUE(pair.nodes[1]->finished());
  EXPECT_EQ(model_hash(pair.nodes[1]->learner().model()), model);
  EXPECT_EQ(pair.two.ledger.last_round(some_plan().charter), kAnswers);
}

TEST(GossipNode, RefusesAnotherChartersMessagesAndStrangers) {
  Pair pair;
  const wire::Gossip other{.charter = {9}, .round = 1};
  EXPECT_FALSE(pair.nodes[0]->step(1, encode(other)));
  EXPECT_FALSE(pair.nodes[0]->step(1, Bytes{1, 2, 3}));
  EXPECT_FALSE(pair.nodes[0]->step(1, {}));
}

}  // namespace gossip_test
}  // namespace parley::protocol
