// No bytes crash either side of secure aggregation, make an owner pay beyond its charter, or bring
// the model out of the box.
#include "support/federated_job.h"
#include "support/letters.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace parley;
  static const charter::Charter charter = test::sparse_clinics_charter();
  static const protocol::FederatedPlan plan = *protocol::federated_plan(charter, nullptr);
  test::Clinic clinic(charter, 0);
  protocol::FederatedLearner learner(plan);
  clinic.process->connect();
  for (size_t i = 0; i < 7; ++i) learner.attend(i);
  constexpr size_t kToOwner = 7;  // Those before are from owners.
  for (const test::Letter& letter : test::letters_in({data, size}, kToOwner + 1)) {
    if (letter.owner == kToOwner) {
      const auto reply = clinic.process->step(letter.message);
      if (!reply) clinic.process->connect();
      if (reply && *reply) check(bool(wire::decode_from_owner(**reply)));
    } else if (!learner.step(letter.owner, letter.message)) {
      learner.attend(letter.owner);
    }
    if (learner.is_ready()) learner.time_is_up();
    check(clinic.ledger.last_round(charter.hash) <= plan.answers);
    for (const double value : learner.trained().theta) check(std::fabs(value) <= plan.box);
  }
  return 0;
}
