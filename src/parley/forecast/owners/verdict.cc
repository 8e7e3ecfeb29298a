#include "parley/forecast/owners/verdict.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/base/math/chi_square.h"
#include "parley/base/math/number.h"
#include "parley/base/math/seeded_random.h"
#include "parley/base/result.h"

namespace parley {

std::string_view name_of(GainAnswer answer) {
  constexpr std::string_view kNames[] = {"worth it", "no difference", "not worth it", "not sure"};
  return kNames[static_cast<int>(answer)];
}

}  // namespace parley

namespace parley::forecast {
namespace {

/// The distance of the inverse-variance weighted mean of two models with independent errors.
double combined(double one, double other) {
  if (!(one > 0 && other > 0)) return 0;
  return 1 / (1 / one + 1 / other);
}

}  // namespace

double sampling_distance(double sampling, double rows, size_t columns) {
  return sampling / std::max(rows - static_cast<double>(columns) - 1, rows / 3);
}

Pulled best_pull(double own, double other, double shared) {
  const double apart = own + other - 2 * shared;
  if (!(apart > 0)) return {own / 2, other / 2, std::min(own, other) / 2, 0};
  const double weight = std::clamp((other - shared) / apart, 0.0, 1.0);
  const double rest = 1 - weight;
  const double best = weight * weight * own + rest * rest * other + 2 * weight * rest * shared;
  return {own / 2, other / 2, best / 2,
          weight > 0 ? rest / weight : std::numeric_limits<double>::infinity()};
}

OwnerPlace place_of(size_t owner, std::span<const double> rows, std::span<const double> weights) {
  check(owner < rows.size() && rows.size() == weights.size());
  OwnerPlace place{.rows = rows[owner], .weight = weights[owner]};
  for (size_t j = 0; j < weights.size(); ++j)
    if (j != owner) place.others += weights[j] * weights[j];
  return place;
}

double joint_rows(std::span<const double> rows, std::span<const double> weights) {
  check(rows.size() == weights.size());
  double sum = 0;
  for (size_t j = 0; j < rows.size(); ++j) sum += weights[j] * weights[j] / rows[j];
  return 1 / sum;
}

OwnFigures own_figures(const OwnerPlace& owner, const Distances& distances) {
  const double rest = 1 - owner.weight;
  const double unlike = distances.own_tau * rest * rest + distances.tau * owner.others;
  const auto pulled = [&](double distance) { return combined(distances.own, distance) / 2; };
  return {.alone = pulled(distances.constant + distances.own_tau),
          .own_public = pulled(distances.own_tau + distances.pilot),
          .joint = (unlike + distances.joint) / 2,
          .unlike = unlike / 2,
          .personal = pulled(unlike + combined(distances.pilot, distances.joint))};
}

namespace {

constexpr size_t kDraws = 2000;
constexpr double kModelFactor = .35, kModelPart = .1;

/// Of slopes and intercept.
struct BothDistances {
  Distances slopes{}, intercept{};
};

BothDistances expected_distances(const OwnerCase& owner) {
  const double n0 = static_cast<double>(owner.pilot.rows);
  const auto of = [&](double dS, double constant, double noise, double tau) {
    return Distances{.own = sampling_distance(dS, owner.place.rows, owner.pilot.columns),
                     .pilot = dS / n0,
                     .joint = dS / owner.joint_rows + noise,
                     .constant = constant,
                     .tau = tau,
                     .own_tau = tau};
  };
  const Parts& dS = owner.pilot.sampling;
  return {of(dS.slopes, owner.pilot.constant, owner.noise.slopes, owner.tau.slopes.value),
          of(dS.intercept, std::numeric_limits<double>::infinity(), owner.noise.intercept,
             owner.tau.intercept.value)};
}

/// tau of a part, and the owner's own.
void draw_tau(const TauPart& tau, size_t freedom, size_t draw, Distances& at,
              SeededRandom& random) {
  at.tau = tau.posterior[draw % tau.posterior.size()] *
           std::exp(std::sqrt(tau.log_variance) * random.normal());
  at.own_tau = at.tau * chi_square_share(random, freedom);
}

BothDistances drawn_distances(const OwnerCase& owner, BothDistances at, size_t draw,
                              SeededRandom& random) {
  draw_tau(owner.tau.slopes, 3, draw, at.slopes, random);
  draw_tau(owner.tau.intercept, 1, draw, at.intercept, random);
  for (double* distance : {&at.slopes.own, &at.slopes.pilot, &at.slopes.joint})
    *distance *= chi_square_share(random, owner.pilot.columns);
  return at;
}

/// The excess that the metric follows, and how much better an owner's own best model is, times two.
struct Followed {
  OwnFigures excess{};
  double tau = 0;
};

Followed followed(const OwnerCase& owner, const BothDistances& at) {
  Followed found{own_figures(owner.place, at.slopes), at.slopes.tau};
  if (owner.metric.ignores_intercept()) return found;
  const OwnFigures more = own_figures(owner.place, at.intercept);
  OwnFigures& sum = found.excess;
  sum.alone += more.alone, sum.own_public += more.own_public, sum.joint += more.joint;
  sum.unlike += more.unlike, sum.personal += more.personal;
  found.tau += at.intercept.tau;
  return found;
}

/// Draws of one model's metric, and of gains against another.
struct Draws {
  std::vector<double> alone{}, own_public{}, joint{}, personal{};
  std::vector<double> gain_alone{}, gain_own_public{};
};

/// A difference of excess with the error of the quadratic model.
double missed(double difference, double alone, SeededRandom& random) {
  const double factor = std::exp(kModelFactor * random.normal());
  return difference * factor + kModelPart * alone * random.normal();
}

/// The gain in the metric if excess falls by `less` from `from`; of RMSE and log loss as a share.
double gain_of(const PilotMetric& metric, double from, double less, double tau) {
  const double before = metric.at(from, tau), after = metric.at(from - less, tau);
  if (!smaller_is_better(metric.measure)) return after - before;
  return before > 0 ? (before - after) / before : 0;
}

Draws draws_of(const OwnerCase& owner) {
  const BothDistances expected = expected_distances(owner);
  const PilotMetric& metric = owner.metric;
  SeededRandom random(1, 0);  // The same draws for every owner: their forecasts can be compared.
  Draws draws;
  for (size_t k = 0; k < kDraws; ++k) {
    const Followed drawn = followed(owner, drawn_distances(owner, expected, k, random));
    const OwnFigures& excess = drawn.excess;
    const double tau = drawn.tau;
    const double factor = std::exp(kModelFactor * random.normal());
    const double level = metric.error * random.normal();
    const auto value = [&](double e, double better) {
      return metric.within(metric.at(e * factor, better) + level);
    };
    draws.alone.push_back(value(excess.alone, tau));
    draws.own_public.push_back(value(excess.own_public, tau));
    draws.personal.push_back(value(excess.personal, tau));
    // The pilot's best model has the same excess because owners differ.
    draws.joint.push_back(value(excess.joint - excess.unlike, tau - 2 * excess.unlike));
    const auto gain = [&](double from) {
      const double less = missed(from - excess.personal, from, random);
      return gain_of(metric, from, less, tau);
    };
    draws.gain_alone.push_back(gain(excess.alone));
    draws.gain_own_public.push_back(gain(excess.own_public));
  }
  return draws;
}

Verdict owner_verdict(const OwnerCase& owner, Against against, const std::vector<double>& gains,
                      double baseline) {
  Verdict found = verdict_of(against, gains, owner.worth, owner.metric.measure, baseline);
  found.alike = owner.tau.alike();
  found.rare = !(owner.rows_per_column >= kRowsPerColumn);
  if (found.rare) found.answer = Answer::kNotSure;
  return found;
}

}  // namespace

Answer answer_of(std::span<const double> gains, double worth) {
  double above = 0, inside = 0;
  for (double gain : gains) {
    if (!std::isfinite(gain)) return Answer::kNotSure;
    above += gain > worth, inside += std::fabs(gain) < worth;
  }
  const auto all = static_cast<double>(gains.size());
  if (gains.empty()) return Answer::kNotSure;
  if (above >= .9 * all) return Answer::kWorthIt;
  if (inside >= .9 * all) return Answer::kNoDifference;
  return above <= .1 * all ? Answer::kNotWorthIt : Answer::kNotSure;
}

Range range_of(const std::vector<double>& draws, double unit) {
  double mean = 0;
  for (double draw : draws) mean += draw / static_cast<double>(draws.size());
  return {unit * mean, unit * quantile(draws, .05), unit * quantile(draws, .95)};
}

Verdict verdict_of(Against against, const std::vector<double>& gains, double worth, Measure measure,
                   double baseline) {
  const double unit = smaller_is_better(measure) ? baseline : 1;
  return {.against = against,
          .answer = answer_of(gains, worth),
          .gain = range_of(gains, unit),
          .threshold = unit * worth};
}

namespace {

/// "better by 0.012 (0.004 to 0.021", "worse by 0.0006 (0.001 worse to 0.0002 better".
std::string gain_text(const Range& gain) {
  const auto size = [](double value) { return significant(std::fabs(value)); };
  const auto side = [&](double value) { return size(value) + (value < 0 ? " worse" : " better"); };
  std::string text = (gain.mean < 0 ? "worse by " : "better by ") + size(gain.mean) + " (";
  if (gain.low >= 0) return text + size(gain.low) + " to " + size(gain.high);
  if (gain.high <= 0) return text + size(gain.high) + " to " + size(gain.low);
  return text + side(gain.low) + " to " + side(gain.high);
}

}  // namespace

std::string sentence(const Verdict& verdict, std::string_view metric) {
  std::string text(name_of(verdict.answer));
  text[0] = static_cast<char>(text[0] - 'a' + 'A');
  text += verdict.against == Against::kAlone ? " against alone: " : " against own + public: ";
  text += std::string(metric) + " " + gain_text(verdict.gain) + "; material from " +
          significant(verdict.threshold) + ")";
  if (verdict.rare) text += "; the public rows hold too few of the smaller class to be sure";
  return text + (verdict.alike ? ", if all owners were alike." : ".");
}

OwnerValue owner_value(const OwnerCase& owner) {
  check(owner.pilot.rows > 0 && owner.pilot.columns > 0 && owner.place.rows > 0);
  const Draws draws = draws_of(owner);
  OwnerValue found{.excess = followed(owner, expected_distances(owner)).excess,
                   .alone = range_of(draws.alone),
                   .own_public = range_of(draws.own_public),
                   .joint = range_of(draws.joint),
                   .personal = range_of(draws.personal)};
  found.against_alone = owner_verdict(owner, Against::kAlone, draws.gain_alone, found.alone.mean);
  found.against_own_public =
      owner_verdict(owner, Against::kOwnPublic, draws.gain_own_public, found.own_public.mean);
  return found;
}

}  // namespace parley::forecast
