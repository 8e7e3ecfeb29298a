// Golden plans: rows with different owners, each of which answers by itself.
#include "support/plan_charters.h"

namespace parley::test {
namespace plan_charters_rows {

const Keys kClasses = {{"target.levels", "[\"no\", \"yes\"]"},
                       {"target.bounds", ""},
                       {"target.center", ""},
                       {"target.scale", ""}};
const Keys kNoPilot = {{"pilot.file", ""}, {"pilot.sha256", ""}, {"pilot.rows", ""}};

Keys classes(const std::string& loss, const Keys& more = {}) {
  return with(with(kClasses, {{"model.loss", "\"" + loss + "\""}}), more);
}

/// What may be changed under every rule that asks for gradients.
void change_privacy(Growing& family) {
  family.change("evaluated", {{"privacy.evaluate", "0.1"}});
  family.change("overlap 2", {{"privacy.overlap", "2"}});
  family.change("overlap 3, evaluated", {{"privacy.overlap", "3"}, {"privacy.evaluate", "0.05"}});
  family.change("3 records of a unit", {{"privacy.unit_records", "3"}});
  family.change("3 records of a unit, overlap 2, evaluated", {{"privacy.unit", "\"person\""},
                                                              {"privacy.unit_records", "3"},
                                                              {"privacy.overlap", "2"},
                                                              {"privacy.evaluate", "0.2"}});
  family.change("coarse grid", {{"privacy.grid_bits", "17"}});
  family.change("second run", {{"charter.run", "2"}});
  family.change("tiny epsilon", {{"owner.a.epsilon", "0.001"}});
  family.change("large epsilon", {{"owner.a.epsilon", "1000.0"}});
}

}  // namespace plan_charters_rows

PlanFamily sync_family() {
  using namespace plan_charters_rows;
  Growing family("sync");
  for (const std::string mechanism : {"laplace", "gaussian"}) {
    const Keys noise = mechanism == "laplace" ? Keys{} : kGaussian;
    family.base("constant, " + mechanism, with(three_banks(), noise));
    change_privacy(family);
    for (const std::string rule : {"algorithm1", "algorithm2", "strongly_convex", "pilot_newton"})
      family.change(rule, {{"protocol.rule", "\"" + rule + "\""}});
    family.change("two rounds of pilot_newton",
                  {{"protocol.rule", "\"pilot_newton\""}, {"protocol.rounds", "2"}});
    family.change("pilot_newton, noise beyond the box",
                  {{"protocol.rule", "\"pilot_newton\""}, {"owner.a.epsilon", "0.00001"}});
    family.change("weights noise_optimal", {{"protocol.weights", "\"noise_optimal\""}});
    family.change("pilot_newton, weights noise_optimal", {{"protocol.rule", "\"pilot_newton\""},
                                                          {"protocol.weights", "\"noise_optimal\""},
                                                          {"privacy.evaluate", "0.05"}});
    for (const std::string loss : {"logistic", "hinge"})
      family.change(loss, classes(loss, {{"privacy.evaluate", "0.05"}}));
  }
  family.base("constant, many rounds", with(three_banks(), {{"protocol.rounds", "100"}}));
  for (const std::string average : {"none", "paper"})
    family.change("average " + average, {{"protocol.average", "\"" + average + "\""}});
  family.change("momentum", {{"protocol.momentum", "0.5"}});
  family.change("start pilot", {{"protocol.start", "\"pilot\""}});
  family.change("bias", {{"model.bias", "true"}});
  family.change(
      "huber",
      {{"model.loss", "\"huber\""}, {"model.huber_delta", "0.4"}, {"privacy.evaluate", "0.05"}});
  family.change("weighted classes", classes("logistic", {{"model.class_weights", "[1.0, 5.0]"},
                                                         {"privacy.evaluate", "0.05"}}));
  family.change("quorum 2", {{"network.quorum", "2"}, {"privacy.evaluate", "0.05"}});
  family.change("algorithm2, quorum 1",
                {{"protocol.rule", "\"algorithm2\""}, {"network.quorum", "1"}});
  family.change("draft without rounds", {{"protocol.rounds", ""}});
  family.change("draft without clip", {{"privacy.max_grad_norm", ""}});
  family.change("refused: skellam", {{"privacy.mechanism", "\"skellam\""}});
  family.change("refused: gaussian without delta", {{"privacy.mechanism", "\"gaussian\""}});
  family.change("refused: pilot_newton without a pilot",
                with(kNoPilot, {{"protocol.rule", "\"pilot_newton\""}}));
  family.change("refused: noise beyond the lattice", {{"owner.a.epsilon", "1e-12"}});
  return family.done();
}

PlanFamily statistics_family() {
  using namespace plan_charters_rows;
  Growing family("statistics");
  const Keys once = {{"protocol.rule", "\"statistics\""},
                     {"protocol.rounds", ""},
                     {"protocol.step", ""},
                     {"privacy.max_grad_norm", ""},
                     {"privacy.max_row_norm", "0.9"}};
  for (const std::string mechanism : {"laplace", "gaussian"}) {
    const Keys noise = mechanism == "laplace" ? Keys{} : kGaussian;
    family.base("statistics, " + mechanism, with(with(three_banks(), once), noise));
    change_privacy(family);
    family.change("long rows", {{"privacy.max_row_norm", "3.0"}});
    family.change("weighted labels", {{"privacy.label_weight", "4.0"}});
    family.change("long rows, weighted labels",
                  {{"privacy.max_row_norm", "3.0"}, {"privacy.label_weight", "0.3"}});
    family.change("small data", {{"owner.a.rows", "40"}});
  }
  family.change("refused: weights noise_optimal", {{"protocol.weights", "\"noise_optimal\""}});
  family.change("refused: rows too long", {{"privacy.max_row_norm", "1e20"}});
  return family.done();
}

PlanFamily owners_family() {
  using namespace plan_charters_rows;
  Growing family("owners");
  const auto learns = [](const std::string& how, const Keys& more = {}) {
    return with({{"protocol.owner_learner", "\"" + how + "\""}, {"learner.name", "\"owner-b\""}},
                more);
  };
  const auto copies = [](const std::string& how, const Keys& more = {}) {
    return with({{"protocol.owner_learner", "\"" + how + "\""}, {"protocol.copies", "true"}}, more);
  };
  const Keys once = {{"protocol.rule", "\"statistics\""},
                     {"protocol.rounds", ""},
                     {"protocol.step", ""},
                     {"privacy.max_grad_norm", ""},
                     {"privacy.max_row_norm", "0.9"}};
  for (const std::string mechanism : {"laplace", "gaussian"}) {
    const Keys noise = mechanism == "laplace" ? Keys{} : kGaussian;
    family.base("one learns, " + mechanism,
                with(with(three_banks(), noise), learns("others_first")));
    family.change("evaluated", {{"privacy.evaluate", "0.05"}});
    family.change("own noise", learns("own_noise"));
    family.change("publishes", {{"protocol.publish", "true"}});
    family.change("publishes, prox, overlap 2, 2 records of a unit",
                  {{"learner.name", "\"owner-a\""},
                   {"protocol.publish", "true"},
                   {"protocol.prox", "0.37"},
                   {"privacy.overlap", "2"},
                   {"privacy.unit_records", "2"}});
    family.change("publishes a hinge model", classes("hinge", {{"protocol.publish", "true"}}));
    family.change("pilot_newton, noise beyond the box",
                  {{"protocol.rule", "\"pilot_newton\""}, {"owner.a.epsilon", "0.00001"}});
    family.change("statistics", with(once, learns("statistics")));
    family.base(
        "all learn, " + mechanism,
        with(with(with(three_banks(), noise), copies("others_first")), {{"learner.name", ""}}),
        mechanism == "laplace" ? "" : "all learn, laplace");
    family.change("overlap 2", {{"privacy.overlap", "2"}});
    family.change("evaluated", {{"privacy.evaluate", "0.05"}});
    family.change("own noise", copies("own_noise"));
    family.change("statistics", with(once, copies("statistics")));
    family.change("pilot_newton", {{"protocol.rule", "\"pilot_newton\""}});
    family.base(
        "graph, " + mechanism,
        with(with(three_banks(), noise),
             {{"protocol.graph", "[[\"owner-a\", \"owner-b\"], [\"owner-b\", \"owner-c\"]]"},
              {"learner.name", ""}}),
        mechanism == "laplace" ? "" : "graph, laplace");
    family.change("evaluated", {{"privacy.evaluate", "0.05"}});
    family.change("pilot_newton", {{"protocol.rule", "\"pilot_newton\""}});
  }
  family.change("refused: quorum 2", {{"network.quorum", "2"}});
  return family.done();
}

PlanFamily async_family() {
  using namespace plan_charters_rows;
  Growing family("async");
  const Keys keys = with(three_banks(), {{"protocol.name", "\"async\""},
                                         {"protocol.rule", ""},
                                         {"protocol.rounds", "20"},
                                         {"protocol.step", "0.11"}});
  for (const std::string mechanism : {"laplace", "gaussian"}) {
    family.base("async, " + mechanism, with(keys, mechanism == "laplace" ? Keys{} : kGaussian));
    change_privacy(family);
    family.change("declared rates", {{"protocol.rates", "\"declared\""},
                                     {"owner.a.rate", "1.0"},
                                     {"owner.b.rate", "2.5"},
                                     {"owner.c.rate", "0.3"}});
  }
  for (const std::string output : {"last", "tail", "copies"})
    for (const std::string contact : {"owner_requests", "broadcast"})
      family.change(output + ", " + contact, {{"protocol.output", "\"" + output + "\""},
                                              {"protocol.contact", "\"" + contact + "\""}});
  family.change("more answers", {{"protocol.answers", "12"}});
  family.change("without a pilot", kNoPilot);
  family.change("hinge", classes("hinge"));
  family.change("own noise",
                {{"protocol.owner_learner", "\"own_noise\""}, {"learner.name", "\"owner-c\""}});
  family.change("others first",
                {{"protocol.owner_learner", "\"others_first\""}, {"learner.name", "\"owner-c\""}});
  family.change("copies", {{"protocol.owner_learner", "\"others_first\""},
                           {"protocol.copies", "true"},
                           {"learner.name", ""}});
  family.change("draft without rounds", {{"protocol.rounds", ""}});
  family.change("refused: long step", {{"protocol.step", "9.0"}});
  family.change("refused: long step without a pilot", with(kNoPilot, {{"protocol.step", "0.6"}}));
  family.change("refused: too few answers", {{"protocol.answers", "3"}});
  return family.done();
}

PlanFamily paper_family() {
  using namespace plan_charters_rows;
  Growing family("paper");
  const Keys paper = with(three_banks(), {{"privacy.calibration", "\"paper\""},
                                          {"protocol.rule", "\"algorithm2\""},
                                          {"privacy.evaluate", ""}});
  family.base("paper, algorithm2", paper);
  family.change("algorithm1", {{"protocol.rule", "\"algorithm1\""}});
  family.change("overlap 2", {{"privacy.overlap", "2"}});
  family.change("3 records of a unit", {{"privacy.unit_records", "3"}});
  family.change("nothing evaluated", {{"privacy.evaluate", "0.0"}});
  family.change("exact learner",
                {{"protocol.owner_learner", "\"exact\""}, {"learner.name", "\"owner-b\""}});
  family.change("refused: gaussian", kGaussian);
  family.change("refused: constant", {{"protocol.rule", "\"constant\""}});
  family.base("paper, async", with(paper, {{"protocol.name", "\"async\""},
                                           {"protocol.rule", ""},
                                           {"protocol.rounds", "20"},
                                           {"protocol.step", "0.11"}}));
  family.change("overlap 2", {{"privacy.overlap", "2"}});
  family.change("nothing evaluated", {{"privacy.evaluate", "0.0"}});
  return family.done();
}

}  // namespace parley::test
