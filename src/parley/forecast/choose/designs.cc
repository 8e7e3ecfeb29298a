#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "parley/forecast/choose/choose.h"
#include "parley/forecast/choose/open.h"
#include "parley/forecast/pilot/statistics.h"
#include "parley/forecast/predict/predict.h"
#include "parley/forecast/study.h"

namespace parley::forecast {
namespace {

using charter::Charter;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// For every row, the mean loss of two scores.
std::vector<double> mean_losses(const PilotStatistics& statistics, std::span<const double> one,
                                std::span<const double> other) {
  std::vector<double> losses;
  std::visit(
      [&](const auto& loss) {
        for (size_t i = 0; i < statistics.rows->size(); ++i) {
          const double y = statistics.rows->label(i);
          losses.push_back((loss.value(one[i], y) + loss.value(other[i], y)) / 2);
        }
      },
      statistics.loss);
  return losses;
}

double squares(const std::vector<double>& theta) {
  double sum = 0;
  for (const double value : theta) sum += value * value;
  return sum;
}

/// (1/2) tr(H_f H_c^-2), l2 inside the second only.
double noise_gain(const PilotStatistics& statistics, const std::vector<double>& inverse) {
  const auto p = static_cast<Eigen::Index>(statistics.dimension());
  const Eigen::Map<const Matrix> hessian(statistics.hessian.data(), p, p);
  const Eigen::Map<const Matrix> inverted(inverse.data(), p, p);
  const Matrix square = inverted * inverted;
  return (hessian.cwiseProduct(square).sum() - statistics.l2 * square.trace()) / 2;
}

}  // namespace

Result<SharedDesign> design_of(const Charter& charter, const FeatureSet& features, double l2,
                               int threads) {
  charter::Model model = charter.model;
  model.l2 = l2;
  auto design = std::make_shared<Design>();
  design->features = &features;
  design->l2 = l2;
  design->statistics = statistics_of(model, features.rows, threads);
  const PilotScores scores = pilot_scores(design->statistics, threads);
  design->metric =
      TRY(pilot_metric(design->statistics, scores, measure_of(charter, design->statistics),
                       charter.schema.target.scale));
  design->losses = mean_losses(design->statistics, scores.in_sample, scores.left_out);
  for (const double loss : mean_losses(design->statistics, scores.left_out, scores.left_out))
    design->left_out += loss / design->statistics.count();
  return SharedDesign(std::move(design));
}

std::optional<ClippedDesign> clipped_design(const SharedDesign& design,
                                            const ProtocolOption& option, double share) {
  const PilotStatistics& statistics = design->statistics;
  const double clip = clip_at(option.charter, statistics, share);
  const auto near = clipped_at(option.charter, statistics, clip);
  if (!near) return std::nullopt;
  const double shorter = squares(statistics.optimum.theta) - squares(near->theta);
  return ClippedDesign{design, clip, near->bias + design->l2 / 2 * shorter,
                       noise_gain(statistics, near->inverse)};
}

double ClippedDesign::criterion(const ProtocolOption& option, int64_t rounds) const {
  const PilotStatistics& statistics = design->statistics;
  const auto r = static_cast<double>(rounds);
  const auto p = static_cast<double>(statistics.dimension());
  const double noise = option.variance(rounds) * clip * clip * noise_gain / r;
  const double unfinished =
      statistics.sampling / statistics.count() * std::min(1.0, 2 * p / statistics.count()) / r;
  return design->metric.loss + bias + statistics.sampling / owners_rows(option.charter) + noise +
         unfinished;
}

double ClippedDesign::criterion(const ProtocolOption& option) const {
  double least = std::numeric_limits<double>::infinity();
  for (const int64_t rounds : {1, 2, 4}) least = std::min(least, criterion(option, rounds));
  return least;
}

double paired_error(const Design& one, const Design& other) {
  const auto n = static_cast<double>(std::min(one.losses.size(), other.losses.size()));
  double sum = 0, square = 0;
  for (size_t i = 0; i < one.losses.size() && i < other.losses.size(); ++i) {
    const double difference = one.losses[i] - other.losses[i];
    sum += difference, square += difference * difference;
  }
  return std::sqrt(std::max(square / n - sum / n * (sum / n), 0.0) / n);
}

bool too_few_rows(const Design& design) {
  const auto p = static_cast<double>(design.statistics.dimension());
  return p > design.statistics.count() / 20 || rows_per_column(design.statistics) < kRowsPerColumn;
}

namespace {

constexpr double kTenth = 5e-4;  // of the loss: a tenth of the gain that counts by default

/// Forecasts take time with many columns: fewer candidates then.
size_t candidates_for(const Design& design) { return design.statistics.dimension() > 150 ? 1 : 5; }

/// The draft under this protocol with these features and this l2.
Charter as_designed(const ProtocolOption& option, const Design& design) {
  Charter charter = option.charter;
  charter.model.l2 = design.l2;
  if (design.features->bundle) charter.schema.bundle = design.features->bundle;
  return charter;
}

/// The expected loss of the output minus that of the optimum, both without l2.
double loss_excess(const PilotStatistics& statistics, const Prediction& found, int threads) {
  const EstimatedOn how{.rows = *statistics.rows, .loss = statistics.loss, .threads = threads};
  const size_t p = statistics.dimension();
  const OutputDistribution optimum{statistics.optimum.theta, std::vector<double>(p * p)};
  return estimate_output(how, found.distribution).fitness - estimate_output(how, optimum).fitness;
}

/// L_mid, the excess by noise and steps, the sampling error of the owners' rows, and what the
/// candidate's forecast adds for weights and for the error of the pilot's Hessian.
double expected_loss(const Design& design, const Candidate& candidate, const data::Rows& pilot,
                     const ForecastOptions& options) {
  const PilotStatistics& statistics = design.statistics;
  const double n = owners_rows(candidate.charter), best = statistics.fitness(n);
  auto job = job_of(candidate.charter, statistics, &pilot);
  if (!job) return std::numeric_limits<double>::infinity();
  set_differences(*job, statistics, options.differ_at(best) * best, {});
  const Prediction found = predict(statistics, *job, {.threads = options.threads});
  const double more = std::max(candidate.psi * best - found.excess, 0.0);
  return design.metric.loss + loss_excess(statistics, found, options.threads) +
         statistics.sampling / n + more;
}

double nine_of_ten(const data::Rows& rows) {
  std::vector<double> lengths;
  for (size_t i = 0; i < rows.size(); ++i) {
    double sum = 0;
    for (const double value : rows.row(i)) sum += value * value;
    lengths.push_back(std::sqrt(sum));
  }
  std::sort(lengths.begin(), lengths.end());
  return rounded(lengths[lengths.size() * 9 / 10]);
}

/// Federated training shrinks rows to a norm, which makes another design.
std::optional<Finalist> federated_finalist(const FinalistQuestion& question,
                                           const SharedDesign& design,
                                           const ProtocolOption& option) {
  const auto& options = question.options;
  const auto longer = with_row_norm(question.draft, option, nine_of_ten(*design->features->rows));
  if (!longer) return std::nullopt;
  FeatureSet shrunk = *design->features;
  shrunk.rows = as_trained(longer->charter, shrunk.rows);
  auto own = design_of(longer->charter, shrunk, design->l2, options.threads);
  if (!own) return std::nullopt;
  Finalist found{*own, *longer};
  const Charter charter = as_designed(found.option, **own);
  auto chosen = choose_federated(charter, (*own)->statistics, *design->features->rows,
                                 question.given, options);
  if (!chosen) return std::nullopt;
  found.candidate = std::move(chosen->best);
  found.choices = std::move(chosen->choices);
  found.loss = expected_loss(**own, found.candidate, *design->features->rows, options);
  auto kept = std::make_shared<Design>(**own);
  kept->features = design->features;  // not the shrunk copy, which is local
  found.design = std::move(kept);
  return found;
}

}  // namespace

std::optional<Finalist> finalist(const FinalistQuestion& question, const SharedDesign& design,
                                 const ProtocolOption& option, double correction) {
  if (option.kind == ProtocolOption::Kind::kFederated) {
    auto found = federated_finalist(question, design, option);
    if (found) found->loss += correction;
    return found;
  }
  const auto& options = question.options;
  Finalist found{design, option};
  auto best = best_candidate(as_designed(option, *design), design->statistics, question.given,
                             options.threads, candidates_for(*design));
  if (!best) return std::nullopt;
  const double slack = kTenth * design->metric.loss / design->statistics.optimum.fitness;
  found.candidate = with_fewer_rounds(*std::move(best), design->statistics, question.given,
                                      options.threads, slack);
  found.loss =
      correction + expected_loss(*design, found.candidate, *design->features->rows, options);
  return found;
}

size_t winner(const std::vector<Finalist>& finalists,
              const std::vector<const FeatureSet*>& in_order) {
  size_t best = 0;
  for (size_t k = 1; k < finalists.size(); ++k)
    if (finalists[k].loss < finalists[best].loss) best = k;
  const auto place = [&](const Finalist& one) {
    return std::find(in_order.begin(), in_order.end(), one.design->features) - in_order.begin();
  };
  const auto before = [&](const Finalist& a, const Finalist& b) {
    return std::tuple(place(a), -a.design->l2, a.candidate.charter.answers(), a.option.kind) <
           std::tuple(place(b), -b.design->l2, b.candidate.charter.answers(), b.option.kind);
  };
  size_t chosen = best;
  for (size_t k = 0; k < finalists.size(); ++k) {
    const double apart = finalists[k].loss - finalists[best].loss;
    const double error = paired_error(*finalists[k].design, *finalists[best].design);
    if (apart <= std::max(error, kTenth * finalists[best].loss) &&
        before(finalists[k], finalists[chosen]))
      chosen = k;
  }
  return chosen;
}

}  // namespace parley::forecast
