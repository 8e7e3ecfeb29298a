// No bytes of a learner crash an owner, nor make it pay or answer beyond its charter; whatever it
// says can be read.
#include "support/letters.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace parley;
  const auto alone = wire::decode_to_owner({data, size});
  if (!alone) check(!alone.error().what.empty());
  test::TestOwner owner(1, 1);
  owner.owner->connect();
  for (const test::Letter& letter : test::letters_in({data, size})) {
    const auto reply = owner.owner->step(letter.message);
    check(owner.ledger.spent(owner.dataset).pure <= 1);
    check(owner.ledger.last_round(test::some_plan().charter) <= test::kAnswers);
    if (!reply) {
      check(!reply.error().what.empty());
      owner.owner->connect();
    } else if (*reply) {
      check(bool(wire::decode_from_owner(**reply)));
    }
  }
  return 0;
}
