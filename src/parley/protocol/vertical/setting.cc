#include "parley/protocol/vertical/setting.h"

#include "parley/protocol/trained_model.h"

namespace parley::protocol {

Secret32 alignment_key(const Hash& charter) {
  return TupleBytes().add("parley record ids").add(charter).sha256();
}

Result<VerticalSetting> vertical_setting(const charter::Charter& charter,
                                         const plan::VerticalTerms& terms, size_t owner,
                                         const learn::Training& training) {
  charter::Charter part = charter;
  part.schema = plan::part_schema(charter, owner);
  Trained trained;
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    trained.spent.push_back({TRY(plan::sharing_epsilon(charter, terms, i)), 0});
    trained.answers.push_back(terms.rounds);
  }
  VerticalSetting setting;
  setting.simulated = training.seed.has_value();
  setting.part = {.model = trained_model(part, trained, training),
                  .owner = charter.owners[owner].name,
                  .id = charter.records->id,
                  .charter = charter.hash,
                  .row_norm = terms.plan.row_norms[owner],
                  .ball = terms.plan.balls[owner],
                  .bits = terms.plan.bits,
                  .fraction = terms.plan.fraction};
  for (const charter::Owner& each : charter.owners)
    setting.owners.push_back({each.name, each.sign_key});
  return setting;
}

}  // namespace parley::protocol
