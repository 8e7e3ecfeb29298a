#include "parley/forecast/choose/open/finalists.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "parley/forecast/choose/clips.h"
#include "parley/forecast/choose/federated.h"
#include "parley/forecast/jobs.h"
#include "parley/forecast/trained_rows.h"

namespace parley::forecast {
namespace {

using charter::Charter;

constexpr double kTenth = 5e-4;  // of the loss: a tenth of the gain that counts by default

/// Forecasts take time with many columns: fewer candidates then.
size_t candidates_for(const Design& design) { return design.statistics.dimension() > 150 ? 1 : 5; }

/// The draft under this protocol with these features and this l2.
Charter as_designed(const Way& way, const Design& design) {
  Charter charter = way.charter;
  charter.model.l2 = design.l2;
  if (design.features->bundle) charter.schema.bundle = design.features->bundle;
  return charter;
}

/// The loss without l2, expected over what the job ends in, less that of the optimum.
double loss_excess(const PilotStatistics& statistics, const Prediction& found, int threads) {
  const Estimated how{.rows = *statistics.rows, .loss = statistics.loss, .threads = threads};
  const size_t p = statistics.dimension();
  const OutputDistribution optimum{statistics.optimum.theta, std::vector<double>(p * p)};
  return at_output(how, found.distribution).fitness - at_output(how, optimum).fitness;
}

/// L_mid, what noise and steps add to the loss, what owners' rows miss as a sample, and what the
/// candidate's own forecast adds for weights and for a curvature known from a sample.
double expected_loss(const Design& design, const Candidate& candidate, const data::Rows& pilot,
                     const ForecastOptions& options) {
  const PilotStatistics& statistics = design.statistics;
  const double n = owners_rows(candidate.charter), best = statistics.fitness(n);
  auto job = job_of(candidate.charter, statistics, &pilot);
  if (!job) return std::numeric_limits<double>::infinity();
  tell_apart(*job, statistics, options.differ_at(best) * best, {});
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

/// Local steps are of rows shrunk to a norm, which is a design of its own.
std::optional<Finalist> federated_finalist(const FinalistQuestion& question,
                                           const SharedDesign& design, const Way& way) {
  const auto& options = question.options;
  const auto longer = with_row_norm(question.draft, way, nine_of_ten(*design->features->rows));
  if (!longer) return std::nullopt;
  FeatureSet shrunk = *design->features;
  shrunk.rows = as_trained(longer->charter, shrunk.rows);
  auto own = design_of(longer->charter, shrunk, design->l2, options.threads);
  if (!own) return std::nullopt;
  Finalist found{*own, *longer};
  const Charter charter = as_designed(found.way, **own);
  auto chosen = choose_federated(charter, (*own)->statistics, *design->features->rows,
                                 question.given, options);
  if (!chosen) return std::nullopt;
  found.candidate = std::move(chosen->best);
  found.choices = std::move(chosen->choices);
  found.loss = expected_loss(**own, found.candidate, *design->features->rows, options);
  auto kept = std::make_shared<Design>(**own);
  kept->features = design->features;  // The copy above ends here.
  found.design = std::move(kept);
  return found;
}

}  // namespace

std::optional<Finalist> finalist(const FinalistQuestion& question, const SharedDesign& design,
                                 const Way& way, double correction) {
  if (way.kind == Way::Kind::kFederated) {
    auto found = federated_finalist(question, design, way);
    if (found) found->loss += correction;
    return found;
  }
  const auto& options = question.options;
  Finalist found{design, way};
  auto best = best_candidate(as_designed(way, *design), design->statistics, question.given,
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
    return std::tuple(place(a), -a.design->l2, a.candidate.charter.answers(), a.way.kind) <
           std::tuple(place(b), -b.design->l2, b.candidate.charter.answers(), b.way.kind);
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
