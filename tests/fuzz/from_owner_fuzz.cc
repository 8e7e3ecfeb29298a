// No bytes of owners crash the learner or bring its model out of the box.
#include "support/letters.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace parley;
  const auto alone = wire::decode_from_owner({data, size});
  if (!alone) check(!alone.error().what.empty());
  static const plan::SyncPlan plan = test::unsigned_plan();
  protocol::SyncLearner learner(plan);
  for (const size_t owner : {0, 1}) learner.attend(owner);
  for (const test::Letter& letter : test::letters_in({data, size})) {
    const auto step = learner.step(letter.owner, letter.message);
    test::check_model(learner);
    if (step) continue;
    check(!step.error().what.empty());
    learner.attend(letter.owner);  // It comes back.
  }
  return 0;
}
