// B-sharing: columns in three places, and some of their owners lie about columns or scores.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "parley/base/math/seeded_random.h"
#include "parley/privacy/accounting/zcdp.h"
#include "studies/reproduce/beyond/protocols.h"
#include "studies/reproduce/curve.h"
#include "studies/reproduce/figures.h"

namespace parley::reproduce {
namespace beyond {
namespace {

/// First and last column of each party; the first party holds the classes and lies about them only
/// in `kClasses`.
constexpr std::array<std::pair<size_t, size_t>, 3> kParts = {{{0, 4}, {4, 7}, {7, 10}}};
constexpr int kShares = 20;
constexpr double kShareStep = 20, kRowNorm = 1, kBall = 4;

enum class Told {
  kTruth,
  kClasses,
  kOther,
  kFarPoint,
  kTurnedScores,
  kLongScores,
  kNoise,
  kPicked
};
constexpr Told kTold[] = {Told::kClasses,    Told::kOther, Told::kFarPoint, Told::kTurnedScores,
                          Told::kLongScores, Told::kNoise, Told::kPicked};

std::string_view name_of(Told told) {
  constexpr std::string_view kNames[] = {"all honest",
                                         "the holder exchanges the classes",
                                         "other numbers for its columns",
                                         "one far point for all",
                                         "scores turned, ten times as long",
                                         "the same long score for all",
                                         "free riders: noise for scores",
                                         "scores that pick records"};
  return kNames[static_cast<int>(told)];
}

bool about_scores(Told told) { return told >= Told::kTurnedScores; }

struct ColumnsJob {
  double epsilon = 2;
  size_t liars = 0;  // parties 2 and 3 of three; those of the classes: party 1
  Told told = Told::kTruth;
  bool shortened = true;  // scores are cut to what a short record and model allow
  Vector target{};        // of scores that pick records: where the model shall go
};

data::Rows all_rows(const World& world) {
  data::Rows rows(kColumns);
  for (const data::Rows& owner : world.owners)
    for (size_t i = 0; i < owner.size(); ++i) rows.add(owner.row(i), owner.label(i));
  return rows;
}

/// The columns as the parties give them.
data::Rows told_columns(const data::Rows& rows, const ColumnsJob& job, SeededRandom& random) {
  data::Rows result(kColumns);
  Vector z(kColumns);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::copy(rows.row(i).begin(), rows.row(i).end(), z.begin());
    for (size_t m = 1; m <= job.liars; ++m)
      for (size_t j = kParts[m].first; j < kParts[m].second; ++j) {
        if (job.told == Told::kOther) z[j] = random.normal() / std::sqrt(double(kColumns));
        if (job.told == Told::kFarPoint) z[j] = kRowNorm / std::sqrt(3.);
      }
    const bool turned = job.told == Told::kClasses && job.liars > 0;
    result.add(z, turned ? -rows.label(i) : rows.label(i));
  }
  return result;
}

constexpr double kLongScore = 100;

/// The worst: a liar that knows everything makes records that pull the model to its target look
/// wrong, which count in full, and all others right, which do not count.
double picking_score(const ColumnsJob& job, const data::Rows& rows, size_t i) {
  double pull = 0;
  for (size_t j = 0; j < kColumns; ++j) pull += rows.label(i) * rows.row(i)[j] * job.target[j];
  return pull > 0 ? -kLongScore * rows.label(i) : kLongScore * rows.label(i);
}

/// What party m says the score of record i is.
double score_of(const ColumnsJob& job, size_t m, const data::Rows& rows, size_t i, double honest,
                SeededRandom& random) {
  if (m == 0 || m > job.liars || !about_scores(job.told)) return honest;
  const double told = job.told == Told::kTurnedScores ? -10 * honest
                      : job.told == Told::kLongScores ? kLongScore
                      : job.told == Told::kPicked     ? picking_score(job, rows, i)
                                                      : random.normal();
  return job.shortened ? std::clamp(told, -kRowNorm * kBall, kRowNorm * kBall) : told;
}

/// Gradients of the columns' parts from the sum of all scores, with noise; as rule "gradients".
Vector train_columns(const World& world, const ColumnsJob& job, uint64_t seed) {
  SeededRandom random(seed, 940);
  const data::Rows rows = told_columns(all_rows(world), job, random);
  const double rho = privacy::zcdp_rho(job.epsilon, privacy::Delta(kDelta)),
               n = double(rows.size());
  const double sigma = 2 * kClip / n * std::sqrt(kShares / (2 * rho));
  Vector theta(kColumns), average(kColumns);
  for (int round = 0; round < kShares; ++round) {
    Vector slope(kColumns);
    for (size_t i = 0; i < rows.size(); ++i) {
      double sum = 0;
      for (size_t m = 0; m < kParts.size(); ++m) {
        double score = 0;
        for (size_t j = kParts[m].first; j < kParts[m].second; ++j)
          score += theta[j] * rows.row(i)[j];
        sum += score_of(job, m, rows, i, score, random);
      }
      const double y = rows.label(i), pull = -y / (1 + std::exp(y * sum));
      const double size = length(rows.row(i)),
                   factor = std::min(1., kClip / (std::fabs(pull) * size));
      for (size_t j = 0; j < kColumns; ++j) slope[j] += factor * pull * rows.row(i)[j] / n;
    }
    for (size_t j = 0; j < kColumns; ++j)
      theta[j] -= kShareStep * (slope[j] + kL2 * theta[j] + sigma * random.normal());
    clamp_to_box(theta);
    for (size_t j = 0; j < kColumns && round >= kShares / 2; ++j)
      average[j] += theta[j] / (kShares / 2);
  }
  return average;
}

struct ColumnsDrawn : Drawn {
  std::vector<Push> corners{};  // of the box, the worst for public rows, by world
};

double harm_in(const ColumnsDrawn& drawn, size_t run, ColumnsJob job) {
  const World& world = drawn.worlds[run];
  if (job.told == Told::kPicked) {
    job.target = drawn.corners[run].direction;
    for (double& value : job.target) value = -value;
  }
  return loss_on(world.fresh, train_columns(world, job, drawn.seed + 11 * run)) - drawn.best[run];
}

Estimate harm_of(const ColumnsDrawn& drawn, const ColumnsJob& job) {
  return drawn.mean([&](size_t run) { return harm_in(drawn, run, job); });
}

Estimate worst_forecast(const ColumnsDrawn& drawn) {
  return drawn.mean([&](size_t run) { return drawn.corners[run].most; });
}

/// On public rows: the best model without the liars' columns, or turned around where the classes
/// are; above the best with all of them.
double forecast_in(const ColumnsDrawn& drawn, size_t run, size_t liars, bool classes) {
  const World& world = drawn.worlds[run];
  const World open = public_world(world);
  Vector theta = best_model(open);
  const double best = loss_on(world.pilot, theta);
  if (classes) {
    for (double& value : theta) value = -value;
    return loss_on(world.pilot, theta) - best;
  }
  World without = open;
  for (data::Rows& rows : without.owners) {
    data::Rows less(kColumns);
    Vector z(kColumns);
    for (size_t i = 0; i < rows.size(); ++i) {
      std::copy(rows.row(i).begin(), rows.row(i).end(), z.begin());
      for (size_t m = 1; m <= liars; ++m)
        std::fill(z.begin() + long(kParts[m].first), z.begin() + long(kParts[m].second), 0);
      less.add(z, rows.label(i));
    }
    rows = std::move(less);
  }
  return loss_on(world.pilot, best_model(without)) - best;
}

Estimate harm_over_forecast(const ColumnsDrawn& drawn, const ColumnsJob& job) {
  return drawn.ratio(
      [&](size_t run) { return harm_in(drawn, run, job); },
      [&](size_t run) { return forecast_in(drawn, run, job.liars, job.told == Told::kClasses); });
}

Panel lies_panel(const ColumnsDrawn& drawn, bool shortened) {
  Panel panel{
      .title = shortened ? "ε = 2, scores cut to what is allowed" : "ε = 2, scores of any size",
      .x = {.label = "owners of columns that lie, of three"},
      .y = {.label = "excess log loss on new rows", .log = true}};
  for (Told told : kTold) {
    Curve curve;
    for (size_t liars : {0, 1, 2})
      curve.add(double(liars),
                harm_of(drawn, {.liars = liars, .told = told, .shortened = shortened}));
    panel.series.push_back(curve.series(std::string(name_of(told)), !about_scores(told)));
  }
  Curve forecast;
  for (size_t liars : {1, 2})
    forecast.add(double(liars),
                 drawn.mean([&](size_t run) { return forecast_in(drawn, run, liars, false); }));
  Series line = forecast.series("without their columns, forecast");
  line.kind = Series::Kind::kTheory;
  panel.series.push_back(line);
  panel.series.push_back({.name = "forecast of the worst",
                          .kind = Series::Kind::kLevel,
                          .y = {worst_forecast(drawn).value}});
  return panel;
}

/// No lie about scores does more harm than the worst corner of the box.
void add_worst(Figure& figure, const ColumnsDrawn& drawn) {
  const Estimate forecast = worst_forecast(drawn);
  figure.measures.push_back(beside("forecast of the worst", forecast));
  for (Told told : kTold)
    for (size_t liars : {size_t{1}, size_t{2}}) {
      if (!about_scores(told)) continue;
      const ColumnsJob job{.liars = liars, .told = told, .shortened = false};
      const Estimate found = drawn.ratio([&](size_t run) { return harm_in(drawn, run, job); },
                                         [&](size_t run) { return drawn.corners[run].most; });
      const std::string quantity =
          fmt::format("{}: harm over the forecast of the worst, {} liars", name_of(told), liars);
      figure.measures.push_back(compared("lies about scores that do no more harm than forecast",
                                         "counted: " + quantity, found, 0, 1));
      if (told == Told::kPicked && liars == 1)
        figure.measures.push_back(between(quantity, found, 1. / 3, 1));
    }
}

void add_measures(Figure& figure, const ColumnsDrawn& drawn) {
  for (size_t liars : {size_t{1}, size_t{2}})
    figure.measures.push_back(
        between(fmt::format("other numbers for columns: harm over its forecast, {} liars", liars),
                harm_over_forecast(drawn, {.liars = liars, .told = Told::kOther}), 1. / 3, 1.25));
  figure.measures.push_back(between("classes exchanged: harm over its forecast",
                                    harm_over_forecast(drawn, {.liars = 1, .told = Told::kClasses}),
                                    1. / 3, 1.25));
  for (Told told : {Told::kTurnedScores, Told::kLongScores, Told::kNoise})
    for (bool shortened : {true, false})
      figure.measures.push_back(
          beside(fmt::format("1 liar, {}{}: harm over that of its columns gone", name_of(told),
                             shortened ? ", cut" : ""),
                 harm_over_forecast(drawn, {.liars = 1, .told = told, .shortened = shortened})));
  add_worst(figure, drawn);
  for (Told told : kTold)
    figure.measures.push_back(beside(fmt::format("harm, 1 liar, ε = 2: {}, cut", name_of(told)),
                                     harm_of(drawn, {.liars = 1, .told = told})));
  figure.measures.push_back(beside("harm of noise, all honest, ε = 2", harm_of(drawn, {})));
  for (Measure& measure : figure.measures) measure.draws = drawn.worlds.size();
}

}  // namespace
}  // namespace beyond

using namespace beyond;

Result<Figure> liars_sharing(const Study& study) {
  ColumnsDrawn drawn{drawn_worlds(study.seed, study.runs_or(8, 2))};
  for (const World& world : drawn.worlds) drawn.corners.push_back(worst_push(world, kNoBound));
  Figure figure{
      .id = "B-sharing",
      .item = "owners that lie",
      .title = "columns in several places",
      .claim =
          "An owner that lies about its columns takes away what they tell, as is forecast "
          "from public rows; the holder of the classes turns the model around; one that lies "
          "about its scores does no more than the forecast of the worst says, which is not three "
          "times too high.",
      .panels = {lies_panel(drawn, true), lies_panel(drawn, false)},
      .data = "made for this",
      .seed = study.seed,
      .runs = drawn.worlds.size()};
  add_measures(figure, drawn);
  figure.settings = {
      {"owners",
       "columns 4 + 3 + 3 of 2,000 records, two classes; the first holds the "
       "classes"},
      {"noise", "Gaussian on the gradient of all columns, ε = 2, δ = 10⁻⁶, 20 rounds"},
      {"judged",
       "on new rows with everybody's true columns: log loss above that of the "
       "best honest model without noise"}};
  figure.note =
      "Personal models are of no use here: an owner of columns has no classes of its own. Scores "
      "in "
      "secret shares are seen by nobody, so that cutting them would take a proof of their size; "
      "where noisy scores are sent, whoever adds them up can.";
  return figure;
}

}  // namespace parley::reproduce
