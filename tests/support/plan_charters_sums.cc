// Golden plans: jobs of which only sums are opened, and columns with different owners.
#include "support/plan_charters.h"

namespace parley::test {
namespace plan_charters_sums {

/// What may be changed under secure aggregation.
void change_sums(Growing& family) {
  family.change("skellam", {{"privacy.mechanism", "\"skellam\""}});
  family.change("evaluated", {{"privacy.evaluate", "0.1"}});
  family.change("skellam, evaluated, overlap 2", {{"privacy.mechanism", "\"skellam\""},
                                                  {"privacy.evaluate", "0.05"},
                                                  {"privacy.overlap", "2"}});
  family.change("overlap 3", {{"privacy.overlap", "3"}});
  family.change("3 records of a unit", {{"privacy.unit_records", "3"}});
  family.change("3 repeats", {{"secure_aggregation.repeats", "3"}});
  family.change("no repeats, evaluated",
                {{"secure_aggregation.repeats", "0"}, {"privacy.evaluate", "0.05"}});
  family.change("2 colluders", {{"secure_aggregation.colluders", "2"},
                                {"secure_aggregation.threshold", "4"},
                                {"secure_aggregation.survivors", "5"}});
  family.change("tiny epsilon", {{"owner.a.epsilon", "0.001"}});
}

void refuse_sums(Growing& family) {
  family.change("refused: no key", {{"owner.b.sign_key", ""}});
  family.change("refused: threshold", {{"secure_aggregation.threshold", "4"}});
  family.change("refused: laplace", {{"privacy.mechanism", "\"laplace\""}});
  family.change("refused: two lists", {{"secure_aggregation.threshold", "2"}});
  family.change("sparse graph", {{"secure_aggregation.graph", "\"sparse\""}});
  family.change("draft without rounds", {{"protocol.rounds", ""}});
}

/// A Gram matrix first, and one after an alarm.
void add_grams(Growing& family, const Keys& keys) {
  family.base("gram, secure", with(keys, {{"protocol.rule", "\"gram\""},
                                          {"protocol.rounds", "20"},
                                          {"protocol.step", ""},
                                          {"privacy.max_grad_norm", ""},
                                          {"secure_aggregation.repeats", ""}}));
  change_sums(family);
  family.change("shorter rows", {{"privacy.max_row_norm", "1.5"}});
  family.change("a clip of its own", {{"privacy.max_grad_norm", "0.7"}});
  family.change("logistic", {{"model.loss", "\"logistic\""},
                             {"target.levels", "[\"no\", \"yes\"]"},
                             {"target.bounds", ""},
                             {"target.center", ""},
                             {"target.scale", ""}});
  family.change("refused: hinge", {{"model.loss", "\"hinge\""}});
  family.change("refused: step", {{"protocol.step", "1.0"}});
  family.base("pilot_newton, gram after an alarm",
              with(keys, {{"protocol.rule", "\"pilot_newton\""},
                          {"protocol.on_alarm", "\"gram\""},
                          {"privacy.max_row_norm", "1.2"}}));
  change_sums(family);
  family.change("after a question", {{"protocol.on_alarm", "\"ask_gram\""}});
  family.change("tau", {{"protocol.tau", "0.05"}});
}

Keys columns_keys() {
  Keys keys = {
      {"charter.version", "1"},
      {"charter.name", "\"columns\""},
      {"charter.consortium", "\"agencies.example\""},
      {"records.id", "\"person\""},
      {"records.count", "32561"},
      {"target.owner", "\"agency-b\""},
      {"target.column", "\"income\""},
      {"target.levels", "[\"low\", \"high\"]"},
      {"model.loss", "\"squared\""},
      {"model.l2", "0.02"},
      {"model.box", "4.5"},
      {"protocol.name", "\"sharing\""},
      {"protocol.rule", "\"gradients\""},
      {"protocol.dealer", "\"learner\""},
      {"protocol.rounds", "6"},
      {"protocol.step", "0.5"},
      {"protocol.model_ball", "4.0"},
      {"privacy.max_row_norm", "1.0"},
      {"privacy.delta", "1e-5"},
      {"learner.name", "\"office\""},
  };
  const char* const norms[] = {"0.57", "0.4", "0.6"};
  const char* const epsilons[] = {"3.0", "1.5", "2.2"};
  for (size_t i = 0; i < 3; ++i) {
    const std::string letter(1, static_cast<char>('a' + i));
    const std::string owner = "owner." + letter + ".", column = "column." + letter + ".";
    keys[owner + "name"] = "\"agency-" + letter + "\"";
    keys[owner + "max_row_norm"] = norms[i];
    keys[owner + "epsilon"] = epsilons[i];
    keys[owner + "columns"] = "[\"x-" + letter + "\"]";
    keys[column + "name"] = "\"x-" + letter + "\"";
    keys[column + "owner"] = "\"agency-" + letter + "\"";
    keys[column + "kind"] = "\"number\"";
    keys[column + "bounds"] = "[-1.0, 1.0]";
    keys[column + "missing"] = "0.0";
  }
  return keys;
}

/// What may be changed of columns in several places.
void change_columns(Growing& family) {
  family.change("overlap 2", {{"privacy.overlap", "2"}});
  family.change("intersect", {{"records.on_mismatch", "\"intersect\""}});
  family.change("coarse grid", {{"privacy.grid_bits", "17"}});
  family.change("bias", {{"model.bias", "true"}});
  family.change("many records", {{"records.count", "20000000"}, {"privacy.delta", "1e-9"}});
  family.change("another delta", {{"owner.a.delta", "1e-9"}});
  family.change("kept for an evaluation", {{"privacy.evaluate", "0.3"}});
  family.change("number", {{"target.levels", ""},
                           {"target.bounds", "[-1.0, 0.5]"},
                           {"target.center", "0.1"},
                           {"target.scale", "1.6"}});
}

void refuse_columns(Growing& family) {
  family.change("refused: too many records",
                {{"records.count", "2000000000"}, {"privacy.delta", "1e-10"}});
  family.change("refused: long labels", {{"target.levels", ""}, {"target.bounds", "[-1.0, 3.0]"}});
  family.change("refused: units of records", {{"privacy.unit_records", "2"}});
  family.change("refused: laplace", {{"privacy.mechanism", "\"laplace\""}});
  family.change("refused: tiny rows", {{"owner.a.max_row_norm", "1e-9"}});
}

}  // namespace plan_charters_sums

PlanFamily sums_family() {
  using namespace plan_charters_sums;
  Growing family("secure_sync");
  const Keys keys =
      with(with(five_clinics(), {{"privacy.evaluate", ""}}), {{"secure_aggregation.repeats", "1"}});
  for (const std::string rule : {"constant", "pilot_newton"}) {
    family.base(rule + ", secure", with(keys, {{"protocol.rule", "\"" + rule + "\""}}));
    change_sums(family);
  }
  refuse_sums(family);
  family.change("noise beyond the box", {{"owner.a.epsilon", "0.00001"}});
  family.change("refused: noise_optimal", {{"protocol.weights", "\"noise_optimal\""}});
  family.change("refused: rho too small",
                {{"owner.a.epsilon", "1e-12"}, {"owner.a.delta", "1e-20"}});
  family.change(
      "refused: sums beyond the ring",
      {{"privacy.grid_bits", "32"}, {"owner.a.rows", "1000000000000"}, {"privacy.delta", "1e-13"}});
  family.change("refused: statistics", {{"protocol.rule", "\"statistics\""},
                                        {"protocol.rounds", ""},
                                        {"protocol.step", ""},
                                        {"privacy.max_grad_norm", ""},
                                        {"privacy.max_row_norm", "0.9"}});
  const Keys once = {{"protocol.rule", "\"distance\""},
                     {"protocol.rounds", ""},
                     {"protocol.step", ""},
                     {"secure_aggregation.repeats", ""}};
  family.base("distance, secure", with(keys, once));
  family.change("overlap 3", {{"privacy.overlap", "3"}});
  family.change("3 records of a unit", {{"privacy.unit_records", "3"}});
  family.change("skellam", {{"privacy.mechanism", "\"skellam\""}});
  family.change("2 repeats", {{"secure_aggregation.repeats", "2"}});
  family.change("refused: evaluated", {{"privacy.evaluate", "0.1"}});
  add_grams(family, keys);
  return family.done();
}

PlanFamily federated_family() {
  using namespace plan_charters_sums;
  Growing family("federated");
  const Keys keys = with(five_clinics(), {{"protocol.name", "\"federated\""},
                                          {"protocol.rule", ""},
                                          {"protocol.local_steps", "4"},
                                          {"secure_aggregation.repeats", "1"},
                                          {"privacy.max_row_norm", "0.9"},
                                          {"privacy.evaluate", ""}});
  const Keys logistic = {{"model.loss", "\"logistic\""},
                         {"privacy.max_grad_norm", ""},
                         {"target.levels", "[\"no\", \"yes\"]"},
                         {"target.bounds", ""},
                         {"target.center", ""},
                         {"target.scale", ""}};
  for (const std::string loss : {"logistic", "squared"}) {
    family.base("federated, " + loss, loss == "logistic" ? with(keys, logistic) : keys);
    change_sums(family);
    for (const std::string weights : {"rows", "parties"}) {
      const Keys same = {{"protocol.weights", "\"" + weights + "\""}};
      family.change("theorem4, weights " + weights,
                    with(same, {{"protocol.schedule", "\"theorem4\""}}));
      family.change("whole owners, weights " + weights,
                    with(same, {{"protocol.level", "\"party\""},
                                {"protocol.max_update_norm", "0.8"},
                                {"privacy.unit_records", "2"}}));
    }
    family.change("start pilot", {{"protocol.start", "\"pilot\""}});
    family.change("one local step", {{"protocol.local_steps", "1"}});
  }
  refuse_sums(family);
  family.change("refused: long step", {{"protocol.step", "50.0"}});
  family.change("refused: theorem4 without l2",
                {{"protocol.schedule", "\"theorem4\""}, {"model.l2", "0.0"}});
  family.change("refused: whole owners, evaluated", {{"protocol.level", "\"party\""},
                                                     {"protocol.max_update_norm", "0.8"},
                                                     {"privacy.evaluate", "0.05"}});
  family.change("huber", {{"model.loss", "\"huber\""}, {"model.huber_delta", "0.4"}});
  family.change("hinge", with(with(logistic, {{"model.loss", "\"hinge\""}}),
                              {{"privacy.max_grad_norm", "0.8"}, {"protocol.local_steps", "1"}}));
  family.change("weighted classes",
                with(logistic, {{"model.class_weights", "[1.0, 5.0]"}, {"protocol.step", "0.1"}}));
  return family.done();
}

PlanFamily sharing_family() {
  using namespace plan_charters_sums;
  Growing family("sharing");
  family.base("gradients", columns_keys());
  change_columns(family);
  refuse_columns(family);
  family.change("momentum", {{"protocol.momentum", "0.8"}});
  family.change("last point", {{"protocol.average", "\"none\""}});
  family.change("20 rounds", {{"protocol.rounds", "20"}});
  family.change("small ball", {{"protocol.model_ball", "0.7"}});
  family.change("draft without rounds", {{"protocol.rounds", ""}});
  family.change("refused: small box", {{"model.box", "1.0"}});
  family.change("refused: average of all", {{"protocol.average", "\"paper\""}});
  family.change("refused: admm", {{"protocol.rule", "\"admm\""},
                                  {"protocol.dealer", ""},
                                  {"protocol.model_ball", ""},
                                  {"privacy.calibration", "\"paper\""}});
  const Keys once = {{"protocol.rule", "\"statistics\""},
                     {"protocol.dealer", "\"learner\""},
                     {"protocol.rounds", ""},
                     {"protocol.step", ""},
                     {"protocol.model_ball", ""}};
  family.base("statistics in shares", with(columns_keys(), once));
  change_columns(family);
  family.base("noisy_sharing", with(columns_keys(), {{"protocol.rule", "\"noisy_sharing\""},
                                                     {"protocol.step", "1.0"}}));
  change_columns(family);
  family.change("refused: without l2", {{"model.l2", "0.0"}});
  family.change("refused: momentum", {{"protocol.momentum", "0.5"}});
  family.base("statistics of three owners without a dealer",
              with(with(columns_keys(), once), {{"protocol.dealer", "\"none\""},
                                                {"privacy.max_row_norm", ""},
                                                {"owner.a.max_row_norm", ""},
                                                {"owner.b.max_row_norm", ""},
                                                {"owner.c.max_row_norm", ""}}));
  family.change("without dealer: no key", {{"protocol.dealer", ""}});
  family.change("without dealer: bias", {{"model.bias", "true"}});
  family.change("without dealer: bits", {{"column.b.bits", "6"}});
  family.change("without dealer: intersect", {{"records.on_mismatch", "\"intersect\""}});
  family.change("without dealer: two owners", {{"owner.c.name", ""},
                                               {"owner.c.epsilon", ""},
                                               {"owner.c.columns", ""},
                                               {"column.c.name", ""},
                                               {"column.c.owner", ""},
                                               {"column.c.kind", ""},
                                               {"column.c.bounds", ""},
                                               {"column.c.missing", ""}});
  family.change("refused: without dealer, a norm", {{"privacy.max_row_norm", "1.0"}});
  family.base("gradients of three owners without a dealer",
              with(columns_keys(), {{"protocol.dealer", "\"none\""},
                                    {"protocol.model_ball", ""},
                                    {"model.box", "0.5"},
                                    {"privacy.max_row_norm", ""},
                                    {"owner.a.max_row_norm", ""},
                                    {"owner.b.max_row_norm", ""},
                                    {"owner.c.max_row_norm", ""}}));
  family.change("rounds without dealer: no key", {{"protocol.dealer", ""}});
  family.change("rounds without dealer: coarse grid", {{"protocol.model_bits", "6"}});
  family.change("rounds without dealer: one colluder", {{"protocol.colluders", "1"}});
  family.change("rounds without dealer: bias", {{"model.bias", "true"}});
  family.change("rounds without dealer: number", {{"target.levels", ""},
                                                  {"target.bounds", "[-1.0, 0.5]"},
                                                  {"target.center", "0.1"},
                                                  {"target.scale", "1.6"}});
  family.change("rounds without dealer: two owners", {{"owner.c.name", ""},
                                                      {"owner.c.epsilon", ""},
                                                      {"owner.c.columns", ""},
                                                      {"column.c.name", ""},
                                                      {"column.c.owner", ""},
                                                      {"column.c.kind", ""},
                                                      {"column.c.bounds", ""},
                                                      {"column.c.missing", ""}});
  family.change("refused: all collude", {{"protocol.colluders", "3"}});
  family.change("refused: grid too coarse for its box", {{"protocol.model_bits", "4"},
                                                         {"model.box", "100.0"},
                                                         {"column.a.bits", "2"},
                                                         {"column.b.bits", "2"},
                                                         {"column.c.bits", "2"}});
  family.change("refused: too many records for 56 bits",
                {{"records.count", "2000000000"}, {"privacy.delta", "1e-10"}});
  return family.done();
}

}  // namespace parley::test
