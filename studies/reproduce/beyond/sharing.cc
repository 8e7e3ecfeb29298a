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

enum class Told { kTruth, kClasses, kOther, kFarPoint, kTurnedScores, kLongScores, kNoise };
constexpr Told kTold[] = {Told::kClasses,      Told::kOther,      Told::kFarPoint,
                          Told::kTurnedScores, Told::kLongScores, Told::kNoise};

std::string_view name_of(Told told) {
  constexpr std::string_view kNames[] = {"all honest",
                                         "the holder exchanges the classes",
                                         "other numbers for its columns",
                                         "one far point for all",
                                         "scores turned, ten times as long",
                                         "the same long score for all",
                                         "free riders: noise for scores"};
  return kNames[static_cast<int>(told)];
}

bool about_scores(Told told) { return told >= Told::kTurnedScores; }

struct ColumnsJob {
  double epsilon = 2;
  size_t liars = 0;  // parties 2 and 3 of three; those of the classes: party 1
  Told told = Told::kTruth;
  bool shortened = true;  // scores are cut to what a short record and model allow
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

double score_of(const ColumnsJob& job, size_t m, double honest, SeededRandom& random) {
  if (m == 0 || m > job.liars || !about_scores(job.told)) return honest;
  double told = job.told == Told::kTurnedScores ? -10 * honest
                : job.told == Told::kLongScores ? 100
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
        sum += score_of(job, m, score, random);
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

Estimate harm_of(const Drawn& drawn, const ColumnsJob& job) {
  return drawn.mean([&](size_t run) {
    return loss_on(drawn.worlds[run].fresh,
                   train_columns(drawn.worlds[run], job, drawn.seed + 11 * run)) -
           drawn.best[run];
  });
}

/// On public rows: the best model without the liars' columns, or turned around where the classes
/// are; above the best with all of them.
Estimate forecast_of(const Drawn& drawn, size_t liars, bool classes) {
  return drawn.mean([&](size_t run) {
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
  });
}

Panel lies_panel(const Drawn& drawn, bool shortened) {
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
  for (size_t liars : {1, 2}) forecast.add(double(liars), forecast_of(drawn, liars, false));
  Series line = forecast.series("without their columns, forecast");
  line.kind = Series::Kind::kTheory;
  panel.series.push_back(line);
  return panel;
}

void add_measures(Figure& figure, const Drawn& drawn) {
  for (size_t liars : {size_t{1}, size_t{2}}) {
    const Estimate forecast = forecast_of(drawn, liars, false);
    const Estimate other = harm_of(drawn, {.liars = liars, .told = Told::kOther});
    figure.measures.push_back(
        between(fmt::format("other numbers for columns: harm over its forecast, {} liars", liars),
                ratio(other, forecast), 1. / 3, 1.25));
  }
  figure.measures.push_back(between(
      "classes exchanged: harm over its forecast",
      ratio(harm_of(drawn, {.liars = 1, .told = Told::kClasses}), forecast_of(drawn, 1, true)),
      1. / 3, 1.25));
  for (Told told : {Told::kTurnedScores, Told::kLongScores, Told::kNoise})
    for (bool shortened : {true, false})
      figure.measures.push_back(
          beside(fmt::format("1 liar, {}{}: harm over that of its columns gone", name_of(told),
                             shortened ? ", cut" : ""),
                 ratio(harm_of(drawn, {.liars = 1, .told = told, .shortened = shortened}),
                       forecast_of(drawn, 1, false))));
  figure.measures.push_back(beside("harm of noise, all honest, ε = 2", harm_of(drawn, {})));
  for (Measure& measure : figure.measures) measure.draws = drawn.worlds.size();
}

}  // namespace
}  // namespace beyond

using namespace beyond;

Result<Figure> liars_sharing(const Study& study) {
  const Drawn drawn = drawn_worlds(study.seed, study.runs_or(8, 2));
  Figure figure{
      .id = "B-sharing",
      .item = "owners that lie",
      .title = "columns in several places",
      .claim =
          "An owner that lies about its columns takes away what they tell, as is forecast "
          "from public rows; the holder of the classes turns the model around.",
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
