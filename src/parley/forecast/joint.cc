#include <algorithm>
#include <cmath>

#include "parley/forecast/pilot/statistics.h"
#include "parley/forecast/predict/predict.h"
#include "parley/forecast/study.h"
#include "parley/forecast/uncertainty.h"
#include "parley/plan/learner/neighbours.h"
#include "parley/plan/vertical_terms.h"

namespace parley::forecast {
namespace {

/// The relative half width of a 90 % interval of a mean of five (Student's t, four degrees).
constexpr double kStudent = 2.132;

/// Optimisation, drift, noise and weights; the public rows alone.
void add_parts(RelativeFitness& psi, const Study& study) {
  const double n = study.rows;
  double sampling = 0, gain = 0;  // cost of the weights, and gain from the others' rows
  for (size_t i = 0; i < study.players.size(); ++i) {
    const double off = study.job.weights[i] - study.players[i].rows / n;
    sampling += (study.game.spread() / study.players[i].rows + study.differ) * off * off;
    gain += study.game.spread() * (1 / study.players[i].rows - 1 / n) /
            static_cast<double>(study.players.size());
  }
  psi.optimisation = study.prediction.optimisation / study.best;
  psi.drift = study.prediction.drift / study.best;
  psi.privacy = (study.prediction.excess - study.prediction.optimisation) / study.best;
  psi.statistical_gain = sampling - gain;
  psi.mean = study.prediction.excess / study.best + sampling;
  psi.pilot_only = study.game.spread() * (1 / study.statistics.count() + 1 / n);
}

void add_distance(JointForecast::Optimum& optimum, const Study& study) {
  constexpr size_t kModels = 300;
  const OutputDistribution& distribution = study.prediction.distribution;
  const std::vector<double>& best = study.statistics.optimum.theta;
  double square = 0;
  for (size_t j = 0; j < best.size(); ++j)
    square += std::pow(distribution.mean[j] - best[j], 2) +
              distribution.covariance[j * (best.size() + 1)];
  optimum.distance_root = std::sqrt(square);
  for (const auto& model : models_of(distribution, study.statistics.box, kModels)) {
    double off = 0;
    for (size_t j = 0; j < best.size(); ++j) off += std::pow(model[j] - best[j], 2);
    optimum.distance += std::sqrt(off) / kModels;
  }
}

void add_metrics(JointForecast& joint, const Study& study) {
  joint.metric.name = name_of(study.metric.measure);
  joint.metric.best = study.metric.at(0);
  joint.metric.joint = study.metric_at(joint.relative_fitness.mean);
  joint.metric.pilot_only = study.metric.at(study.statistics.sampling / study.statistics.count());
}

/// Quartiles over runs, and 90 % intervals that include the public rows' own error.
void add_band(JointForecast& joint, const Study& study) {
  RelativeFitness& psi = joint.relative_fitness;
  MetricForecast& metric = joint.metric;
  std::vector<double> draws = excess_draws(study.statistics, study.prediction);
  const double shift = psi.mean * study.best - study.prediction.excess;  // of the weights
  for (double& draw : draws) draw = (draw + shift) / study.best;
  psi.p25 = quantile(draws, .25);
  psi.p50 = quantile(draws, .5);
  psi.p75 = quantile(draws, .75);
  const double wide = std::exp(std::min(kStudent * study.error, 5.0));
  psi.low = quantile(draws, .05) / wide;
  psi.high = quantile(draws, .95) * wide;
  // In the user's metric: the ends of the interval, and the error of the metric's level.
  const double one = study.metric_at(psi.low), other = study.metric_at(psi.high);
  const double level = kNormal * study.metric.error;
  const double down = std::hypot(metric.joint - std::min(one, other), level);
  const double up = std::hypot(std::max(one, other) - metric.joint, level);
  metric.low = study.metric.within(metric.joint - down);
  metric.high = study.metric.within(metric.joint + up);
}

}  // namespace

Measure measure_of(const charter::Charter& charter, const PilotStatistics& statistics) {
  const bool classes = !charter.schema.target.levels.empty() || learn::two_classes(statistics.loss);
  return classes ? Measure::kAuc : Measure::kRmse;
}

JointForecast joint_forecast(const Study& study) {
  JointForecast joint{.optimum = {.fitness = study.best}};
  add_parts(joint.relative_fitness, study);
  add_distance(joint.optimum, study);
  add_metrics(joint, study);
  add_band(joint, study);
  return joint;
}

namespace {

constexpr double kBytesPerSecond = 8e9;  // of rows that a step passes over

double largest_owner(const charter::Charter& charter) {
  double largest = 0;
  for (const charter::Owner& owner : charter.owners)
    largest = std::max(largest, static_cast<double>(owner.rows));
  return largest;
}

/// Secure aggregation: k neighbours, each with keys, sealed shares and opened ones, and a vector of
/// 8 bytes a number; in a sparse graph also a number of every owner, of which the graph is drawn,
/// and consents of more than half of all.
CostForecast aggregations(const charter::Charter& charter) {
  constexpr double kAgree = 1e-4, kMasksPerSecond = 1e9;  // two key agreements; bytes
  const auto p = static_cast<double>(charter.schema.features().size());
  const auto m = static_cast<double>(charter.owners.size());
  const auto planned = plan::neighbours_of(charter);
  const plan::Neighbours near = planned ? *planned : plan::Neighbours{};
  const bool sparse = near.degree > 0;
  const double k = sparse ? static_cast<double>(near.degree) : m - 1;
  const double lists =
      sparse ? 250 * k + 32 * m + 64 * static_cast<double>(near.consents) : 312 * k;
  const double up = 770 + 135 * k + 8 * p, down = 260 + lists + 8 * p;  // as measured
  const auto rounds = static_cast<double>(charter.protocol.rounds);
  const double pass = largest_owner(charter) * p * sizeof(double) / kBytesPerSecond;
  CostForecast cost{.rounds = static_cast<uint64_t>(charter.protocol.rounds)};
  cost.bytes_per_owner = static_cast<uint64_t>(rounds * (up + down));
  cost.seconds_per_round = 5e-3 + static_cast<double>(charter.protocol.local_steps()) * pass +
                           k * kAgree + 8 * p * (k + 1) / kMasksPerSecond;
  return cost;
}

/// Rounds without a dealer: everything but the owner's own products is bytes and AES.
CostForecast rounds(const charter::Charter& charter) {
  constexpr double kLetter = 1e-3;  // two owners, three letters, a ledger and a file
  const auto count = static_cast<double>(charter.protocol.rounds);
  const auto owners = static_cast<double>(charter.owners.size());
  CostForecast cost{.rounds = static_cast<uint64_t>(charter.protocol.rounds)};
  const auto terms = plan::vertical_terms(charter);
  if (!terms) return cost;
  const double round = plan::round_bytes(*terms);
  const double bytes = plan::setup_bytes(*terms) + count * round;
  cost.bytes_per_owner = static_cast<uint64_t>(2 * bytes / owners);  // both ways
  cost.seconds_per_round = 20 * kLetter + round / kBytesPerSecond;
  return cost;
}

/// Secret-shared gradients: every owner sends its masked columns to every other once, and then in
/// each round a masked score of every record and its share of the other's gradient.
CostForecast sharing(const charter::Charter& charter) {
  if (charter.protocol.without_dealer() && !charter.protocol.statistics()) return rounds(charter);
  const auto owners = feature_owners(charter);
  const auto p = static_cast<double>(owners.size()), n = owners_rows(charter);
  const auto parties = static_cast<double>(charter.owners.size());
  const auto rounds = static_cast<double>(charter.protocol.rounds);
  const bool once = charter.protocol.statistics();
  const double mean = p / parties;  // columns of one owner
  const double setup = 8 * n * mean * (parties - 1);
  // Of statistics the product of columns with columns, once: n words for each column of the other.
  const double round = 8 * (parties - 1) * (once ? n * mean + mean * p : n + p);
  CostForecast cost{.rounds = static_cast<uint64_t>(charter.protocol.rounds)};
  cost.bytes_per_owner = static_cast<uint64_t>(2 * (setup + rounds * round));  // both ways
  cost.seconds_per_round =
      5e-3 + n * p * sizeof(double) * (once ? mean : parties) / kBytesPerSecond;
  return cost;
}

}  // namespace

/// Sizes as measured on the wire (`parley simulate` prints them), speeds as in
/// docs/results/performance.md; both with some room.
CostForecast cost_of(const charter::Charter& charter) {
  constexpr double kUp = 340, kUpEach = 6, kDown = 80, kDownEach = 8;  // bytes
  constexpr double kAnswerSeconds = 1e-3;
  if (charter.secure_aggregation) return aggregations(charter);
  if (charter.columns_apart()) return sharing(charter);
  const auto p = static_cast<double>(charter.schema.features().size());
  const bool moments = charter.protocol.statistics();
  const double numbers = moments ? p * (p + 3) / 2 : p;
  const auto answers = static_cast<double>(charter.answers());
  const double largest = largest_owner(charter);
  CostForecast cost{.rounds = static_cast<uint64_t>(charter.protocol.rounds)};
  cost.bytes_per_owner =
      static_cast<uint64_t>(answers * (kUp + kDown + kUpEach * numbers + kDownEach * p));
  cost.seconds_per_round = kAnswerSeconds + largest * p * sizeof(double) / kBytesPerSecond;
  return cost;
}

}  // namespace parley::forecast
