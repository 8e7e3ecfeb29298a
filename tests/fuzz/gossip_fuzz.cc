// No bytes of a neighbour crash an owner that learns without a learner, make it pay beyond its
// charter, or bring the model out of the box; and what it reads comes back from its own writer.
#include "support/entropy.h"
#include "support/gossip_node.h"
#include "support/letters.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace parley;
  test::TestOwner owner(1, 1e4, std::make_unique<test::SeededEntropy>(1, "noise"));
  const plan::SyncPlan plan = test::unsigned_plan();
  const auto node = test::gossip_node(plan, 0, owner, std::nullopt);
  check(bool(node->start()));
  for (const test::Letter& letter : test::letters_in({data, size}, 1)) {
    const auto gossip = wire::decode_gossip(letter.message);
    if (gossip) check(bool(wire::decode_gossip(wire::encode(*gossip))));
    const auto replies = node->step(1, letter.message);
    if (!replies) check(!replies.error().what.empty());
    if (replies)
      for (const protocol::Whisper& each : *replies) check(bool(wire::decode_gossip(each.message)));
    for (const protocol::Whisper& each : node->remind())
      check(bool(wire::decode_gossip(each.message)));
    check(owner.ledger.last_round(plan.charter) <= test::kAnswers);
    test::check_model(node->learner());
  }
  return 0;
}
