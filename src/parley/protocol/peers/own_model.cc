#include "parley/protocol/peers/own_model.h"

#include <algorithm>
#include <cmath>

#include "parley/base/math/noise_floor.h"
#include "parley/learn/solver/moments.h"
#include "parley/learn/solver/prox.h"
#include "parley/learn/statistics.h"
#include "parley/plan/learner/jobs.h"
#include "parley/plan/learner/sync_plan.h"
#include "parley/plan/learner/weights.h"

namespace parley::protocol {
namespace {

using charter::Charter, charter::OwnerLearner;

constexpr double kTunedTo = 1e-9;  // of a model that only its owner sees

double part_of_rows(const Charter& charter, size_t owner) {
  double rows = 0;
  for (const charter::Owner& each : charter.owners) rows += static_cast<double>(each.rows);
  return static_cast<double>(charter.owners[owner].rows) / rows;
}

std::vector<double> exact_moments(const data::AnyRows& rows, int threads) {
  const size_t p = data::columns_of(rows);
  learn::Moments moments(p);
  std::visit([&](const auto& kind) { moments.add(*kind, threads); }, rows);
  std::vector<double> result;
  for (size_t j = 0; j < p; ++j)
    for (size_t k = j; k < p; ++k) result.push_back(moments.product(j, k));
  for (size_t j = 0; j < p; ++j) result.push_back(moments.with_label(j));
  return result;
}

/// Adds `unit` times an owner's noisy moments, as the lattice holds them.
void add(std::vector<double>& sum, std::span<const int64_t> values, double unit,
         const plan::SyncPlan::Moments& how, size_t p) {
  size_t next = 0;
  for (size_t j = 0; j < p; ++j)
    for (size_t k = j; k < p; ++k, ++next)
      sum[next] += unit * static_cast<double>(values[next]) / (j == k ? 1 : how.off);
  for (; next < sum.size(); ++next)
    sum[next] += unit * static_cast<double>(values[next]) / how.with_label;
}

/// C, of the others: every row counts alike.
Result<FromOthers> moments_of(const Charter& charter, size_t learner, const data::Rows* pilot,
                              std::span<const wire::Entry> journal) {
  const Charter job = plan::job_of(charter, learner);
  const plan::SyncPlan plan = TRY(plan::sync_plan(job, pilot));
  const size_t p = plan.schedule.start.size();
  FromOthers others{.moments = std::vector<double>(learn::statistics_size(p)),
                    .own_part = part_of_rows(charter, learner)};
  double variance = 0;
  for (size_t i = 0; i < job.owners.size(); ++i) {
    const double part = (1 - others.own_part) * part_of_rows(job, i);
    variance += part * part * TRY(plan::noise_variance(job, i));
    const auto answer = std::find_if(journal.begin(), journal.end(), [&](const auto& entry) {
      return entry.owner == job.owners[i].name &&
             entry.answer.receipt.kind == privacy::ReleaseKind::kAnswer;
    });
    check(answer != journal.end());  // The job is finished.
    const double unit = part * plan.gamma / static_cast<double>(job.owners[i].rows);
    add(others.moments, answer->answer.values, unit, *plan.moments, p);
  }
  others.floor = noise_floor(std::sqrt(variance), 1 / plan.moments->off, p);
  return others;
}

}  // namespace

Result<FromOthers> from_others(const Charter& charter, size_t learner, const data::Rows* pilot,
                               std::span<const wire::Entry> journal, const Trained& trained) {
  if (charter.protocol.learners.owner == OwnerLearner::kStatistics)
    return moments_of(charter, learner, pilot, journal);
  return FromOthers{.theta = trained.theta};
}

std::vector<double> own_model(const Charter& charter, const FromOthers& others,
                              const data::AnyRows& rows, int threads) {
  const charter::Model& model = charter.model;
  if (charter.protocol.learners.owner == OwnerLearner::kStatistics) {
    std::vector<double> sum = exact_moments(rows, threads);
    for (size_t j = 0; j < sum.size(); ++j) sum[j] = others.own_part * sum[j] + others.moments[j];
    return learn::moments_minimum(sum, data::columns_of(rows), model.l2, others.floor, model.box);
  }
  if (charter.protocol.learners.owner != OwnerLearner::kOthersFirst) return others.theta;
  const learn::Prox prox{.center = others.theta,
                         .pull = charter.protocol.learners.prox,
                         .l2 = model.l2,
                         .box = model.box};
  return learn::prox_minimum(charter::loss_of(model), rows, prox, kTunedTo).theta;
}

std::vector<double> published_model(std::span<const int64_t> values, double gamma, double box) {
  std::vector<double> model;
  for (int64_t value : values)
    model.push_back(std::clamp(static_cast<double>(value) * gamma, -box, box));
  return model;
}

}  // namespace parley::protocol
