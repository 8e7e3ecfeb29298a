// B-sync, B-secure, B-async and B-federated: what owners that lie do to the joint model and to
// personal ones, what the learner can do about it, and the worst that was forecast.
#include <fmt/format.h>

#include <algorithm>

#include "studies/reproduce/beyond/simulated.h"
#include "studies/reproduce/curve.h"
#include "studies/reproduce/figures.h"

namespace parley::reproduce {
namespace beyond {
namespace {

const std::vector<size_t> kLiars = {0, 1, 2, 3, 4};
constexpr size_t kSome = 3;   // liars where one number must stand for all
constexpr double kUsual = 2;  // epsilon, likewise

Axis liars_axis() { return {.label = "owners of ten that lie"}; }
Axis harm_axis() { return {.label = "excess log loss on new rows", .log = true}; }

Panel by_lies(const Simulated& study) {
  Panel panel{.title = fmt::format("each lie, ε = {:g}, answers shortened", kUsual),
              .x = liars_axis(),
              .y = harm_axis()};
  for (Lie lie : kLies) {
    Curve curve;
    for (size_t liars : kLiars)
      curve.add(double(liars), study.harm({.epsilon = kUsual, .liars = liars, .lie = lie}));
    panel.series.push_back(curve.series(std::string(name_of(lie))));
  }
  Curve worst;
  for (size_t liars : kLiars) worst.add(double(liars), study.forecast(kUsual, liars));
  Series line = worst.series("forecast of the worst");
  line.kind = Series::Kind::kTheory;
  panel.series.push_back(line);
  return panel;
}

/// The worst lie under each of the learner's rules; and where it trusts everybody, numbers beyond
/// any bound.
Panel by_rules(const Simulated& study, const Case& protocol) {
  Panel panel{.title = fmt::format("the worst lie, by the learner's rule, ε = {:g}", kUsual),
              .x = liars_axis(),
              .y = harm_axis()};
  for (Sum rule : protocol.rules) {
    Curve curve;
    for (size_t liars : kLiars)
      curve.add(
          double(liars),
          study
              .worst(
                  {.epsilon = kUsual, .liars = liars, .sum = rule, .unbounded = rule == Sum::kMean})
              .second);
    panel.series.push_back(curve.series(std::string(name_of(rule)), rule != Sum::kMean));
  }
  return panel;
}

Panel by_budget(const Simulated& study) {
  Panel panel{.title = fmt::format("{} liars, over the budget", kSome),
              .x = {.label = "privacy budget ε of each owner", .log = true},
              .y = harm_axis()};
  Curve honest, worst, forecast;
  for (double epsilon : {.5, 2., 8.}) {
    honest.add(epsilon, study.harm({.epsilon = epsilon}));
    worst.add(epsilon, study.worst({.epsilon = epsilon, .liars = kSome}).second);
    forecast.add(epsilon, study.forecast(epsilon, kSome));
  }
  Series line = forecast.series("forecast of the worst");
  line.kind = Series::Kind::kTheory;
  panel.series = {honest.series("all honest", true), worst.series("the worst lie"), line};
  return panel;
}

struct Personal {
  Curve joint{}, personal{};
  Curve over_alone{};  // harm to personal models over that of the same owners alone
  Estimate alone{};
};

/// Joint and personal models of honest owners under the worst lie.
Personal personal_under(const Simulated& study) {
  Personal found;
  const Drawn& worlds = study.worlds();
  const auto harm_of = [&](size_t run, size_t liars, const Vector& joint) {
    return personal_loss(worlds.worlds[run], liars, joint) - worlds.best[run];
  };
  found.alone = worlds.mean([&](size_t run) { return harm_of(run, 0, {}); });
  for (size_t liars : kLiars) {
    Job job{.epsilon = kUsual, .liars = liars};
    job.lie = liars == 0 ? Lie::kNone : study.worst(job).first;
    found.joint.add(double(liars), study.harm(job));
    std::vector<double> harms(worlds.worlds.size());
    for (size_t run = 0; run < harms.size(); ++run)
      harms[run] = harm_of(run, liars, study.model(run, job));
    found.personal.add(double(liars), worlds.mean([&](size_t run) { return harms[run]; }));
    found.over_alone.add(double(liars),
                         worlds.ratio([&](size_t run) { return harms[run]; },
                                      [&](size_t run) { return harm_of(run, liars, {}); }));
  }
  return found;
}

Panel panel_of(const Personal& personal) {
  return {.title = "joint and personal models, the worst lie",
          .x = liars_axis(),
          .y = harm_axis(),
          .series = {
              personal.joint.series("joint"),
              personal.personal.series("personal", true),
              {.name = "each alone", .kind = Series::Kind::kLevel, .y = {personal.alone.value}}}};
}

void add_draws(Figure& figure, uint64_t draws) {
  for (Measure& measure : figure.measures) measure.draws = draws;
}

/// The worst that is measured against the worst that was forecast, which must be neither less nor
/// three times as much, wherever both were found.
void add_forecast(Figure& figure, const Simulated& study) {
  for (const auto& [epsilon, liars] :
       {std::pair{kUsual, size_t{1}}, std::pair{kUsual, size_t{2}}, std::pair{kUsual, kSome},
        std::pair{kUsual, size_t{4}}, std::pair{.5, kSome}, std::pair{8., kSome}}) {
    Job job{.epsilon = epsilon, .liars = liars};
    const auto [lie, harm] = study.worst(job);
    job.lie = lie;
    const Estimate found = study.harm_over_forecast(job);
    const std::string where = fmt::format("{} liars, ε = {:g}", liars, epsilon);
    const std::string quantity = "harm of the worst lie over its forecast, " + where;
    figure.measures.push_back(
        compared("cells in which the worst lie does a third to all of the harm forecast", quantity,
                 found, 1. / 3, 1));
    figure.measures.push_back(beside("harm of the worst lie, " + where, harm));
    figure.measures.push_back(beside("its forecast, " + where, study.forecast(epsilon, liars)));
  }
}

Figure liars_figure(const Study& study, const Case& protocol, std::string claim) {
  const Simulated simulated(protocol, drawn_worlds(study.seed, study.runs_or(8, 2)));
  Figure figure{.id = protocol.id,
                .item = "owners that lie",
                .title = protocol.title,
                .claim = std::move(claim),
                .data = "made for this",
                .seed = study.seed,
                .runs = simulated.worlds().worlds.size()};
  const Personal personal = personal_under(simulated);
  figure.panels = {by_lies(simulated), by_rules(simulated, protocol), by_budget(simulated),
                   panel_of(personal)};
  add_forecast(figure, simulated);
  const auto at = [&](const Curve& curve) { return Estimate{curve.y[kSome], curve.error[kSome]}; };
  figure.measures.push_back(between(
      "harm to honest owners' personal models over that of each alone, 3 liars, the worst lie",
      at(personal.over_alone), .75, 1.25));
  figure.measures.push_back(beside("the same over harm to the joint model",
                                   ratio(at(personal.personal), at(personal.joint))));
  if (protocol.single_answers && protocol.rules.size() > 2) {
    const Estimate shortened = simulated.worst({.liars = kSome}).second;
    for (Sum rule : {Sum::kTrimmed, Sum::kMedian})
      figure.measures.push_back(beside(
          fmt::format("harm with the {} over that with shortened answers, 3 liars", name_of(rule)),
          ratio(simulated.worst({.liars = kSome, .sum = rule}).second, shortened)));
    for (Sum rule : {Sum::kTrimmed, Sum::kMedian})
      figure.measures.push_back(
          beside(fmt::format("all honest: harm of noise with the {} over that with the mean",
                             name_of(rule)),
                 ratio(simulated.harm({.sum = rule}), simulated.harm({.sum = Sum::kMean}))));
  }
  figure.measures.push_back(beside("harm of noise, all honest, ε = 2", simulated.harm({})));
  for (Lie lie : kLies)
    figure.measures.push_back(beside(fmt::format("harm, 1 liar, ε = 2: {}", name_of(lie)),
                                     simulated.harm({.liars = 1, .lie = lie})));
  add_draws(figure, figure.runs);
  figure.settings = {{"owners",
                      "10 of 200 records, 10 columns, two classes, log odds 4 times a "
                      "direction; 1,000 public records, 4,000 new ones to judge by"},
                     {"noise", "Gaussian, δ = 10⁻⁶, 20 answers of an owner, clip 1 in L2"},
                     {"model", "logistic regression, λ = 0.001, |θ_j| ≤ 5"},
                     {"excess",
                      "log loss on new rows above that of the best model of all honest "
                      "records, without noise"},
                     {"liars", "the first owners; colluders know the public rows"}};
  return figure;
}

}  // namespace
}  // namespace beyond

using namespace beyond;

Result<Figure> liars_sync(const Study& study) {
  Figure figure = liars_figure(
      study,
      {"B-sync",
       "synchronous answers",
       train_sync,
       true,
       {Sum::kMean, Sum::kClipped, Sum::kTrimmed, Sum::kMedian}},
      "No lie does more harm than the forecast from public rows says, which is not three times too "
      "high; and honest owners' personal models end where each owner is alone.");
  figure.note =
      "The learner sees every answer, and what it does with them is post-processing: shortening "
      "what is longer than clip and noise allow, trimmed means and medians cost no privacy. "
      "Without "
      "any of it (“mean”) one owner that sends numbers beyond any bound sets the model to a corner "
      "of the box.";
  return figure;
}

Result<Figure> liars_secure(const Study& study) {
  Figure figure = liars_figure(
      study,
      {"B-secure", "secure sums of gradients", train_secure, false, {Sum::kMean, Sum::kClipped}},
      "Where only sums are opened one liar can do as much as the box allows, as is forecast; "
      "honest owners' personal models end where each owner is alone.");
  figure.note =
      "Nobody sees an answer, so no rule can leave one out. Shortening the opened mean bounds a "
      "step, not who decides it: an owner that sends numbers beyond any bound has all of it. A "
      "proof that every part is short would bring the numbers of B-sync back; Parley has none.";
  return figure;
}

Result<Figure> liars_async(const Study& study) {
  Figure figure = liars_figure(
      study, {"B-async", "asynchronous answers", train_async, true, {Sum::kMean, Sum::kClipped}},
      "No lie does more harm than the forecast from public rows says, which is not three times too "
      "high; and honest owners' personal models end where each owner is alone.");
  figure.note =
      "With one or two liars the forecast, made as for synchronous answers, is several times too "
      "high. "
      "One answer at a time: the learner can shorten it, and has no others of the same round to "
      "compare it with, so there is no median. The cap on answers bounds how often a liar speaks.";
  return figure;
}

Result<Figure> liars_federated(const Study& study) {
  Figure figure = liars_figure(study,
                               {"B-federated",
                                "local steps in secure sums",
                                train_federated,
                                false,
                                {Sum::kMean, Sum::kClipped}},
                               "Where only sums are opened one liar can do as much as the box "
                               "allows, as is forecast; honest owners' personal models end where "
                               "each owner is alone.");
  figure.note =
      "As B-secure: an update of any length goes into the sum. Owners that only lie about their "
      "rows stay within the clip.";
  return figure;
}

}  // namespace parley::reproduce
