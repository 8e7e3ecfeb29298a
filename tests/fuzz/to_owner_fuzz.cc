// No bytes of a learner crash an owner, nor make it pay or answer beyond its charter, or before it
// was welcomed; whatever it says can be read.
#include "support/letters.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace parley;
  const auto alone = wire::decode_to_owner({data, size});
  if (!alone) check(!alone.error().what.empty());
  test::TestOwner owner(1, 1);
  const auto answered = [&] { return owner.ledger.last_round(test::some_plan().charter); };
  owner.owner->connect();
  bool welcomed = false;
  for (const test::Letter& letter : test::letters_in({data, size})) {
    const uint32_t before = answered();
    const auto reply = owner.owner->step(letter.message);
    const auto read = wire::decode_to_owner(letter.message);
    welcomed = welcomed || (reply && read && std::holds_alternative<wire::Welcome>(read->body));
    check(welcomed || answered() == before);
    check(owner.ledger.spent(owner.dataset).pure <= 1);
    check(answered() <= test::kAnswers);
    if (!reply) {
      check(!reply.error().what.empty());
      owner.owner->connect();
      welcomed = false;
    } else if (*reply) {
      check(bool(wire::decode_from_owner(**reply)));
    }
  }
  return 0;
}
