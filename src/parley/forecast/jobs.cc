#include "parley/forecast/jobs.h"

#include <cmath>

#include "parley/charter/available.h"
#include "parley/forecast/noise.h"
#include "parley/forecast/predict/pilot_runs.h"
#include "parley/protocol/async_plan.h"
#include "parley/protocol/sync_plan.h"

namespace parley::forecast {
namespace {

using charter::Charter, charter::not_available;

Result<void> check_known(const Charter& charter) {
  const charter::Protocol& p = charter.protocol;
  if (p.name != charter::ProtocolName::kSync && p.name != charter::ProtocolName::kAsync)
    return Error{
        Code::kInvalid,
        "a forecast of protocol \"" + std::string(name_of(p.name)) + "\" is not available yet",
        "Forecasts know \"sync\" and \"async\".",
        {.key = "protocol.name"}};
  const bool apart = p.owner_learner && p.owner_learner != charter::OwnerLearner::kOwnNoise;
  if (apart || !charter.central())
    return Error{Code::kInvalid,
                 "a forecast of owners that learn is available for owner_learner = \"own_noise\" "
                 "only yet",
                 "Forecasts know jobs with one learner, to which every owner answers.",
                 {.key = "protocol.owner_learner"}};
  const bool squared = charter.model.loss == charter::Loss::kSquared;
  if (p.name == charter::ProtocolName::kAsync && !squared &&
      charter.owners.size() > kAsyncOwnersMax)
    return Error{Code::kInvalid,
                 "an asynchronous forecast of loss \"" + std::string(name_of(charter.model.loss)) +
                     "\" is available for at most " + std::to_string(kAsyncOwnersMax) +
                     " owners yet",
                 "Forecasts know any number of owners with loss \"squared\" or protocol \"sync\".",
                 {.key = "model.loss"}};
  return {};
}

}  // namespace

double Job::variance() const {
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) sum += weights[i] * weights[i] * variances[i];
  return sum;
}

double owners_rows(const Charter& charter) {
  double rows = 0;
  for (const charter::Owner& owner : charter.owners) rows += static_cast<double>(owner.rows);
  return rows;
}

Result<Job> job_of(const Charter& charter, const Facts& facts) {
  TRY(check_known(charter));
  const NoiseLaw law = TRY(NoiseLaw::of(charter));
  Job job;
  const auto answers = static_cast<double>(charter.answers());
  const double limit = reach_of(charter);
  const auto strengths = law.strengths(charter.owners);
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    const double reach = limit / static_cast<double>(charter.owners[i].rows);
    job.variances.push_back(strengths[i] * reach * reach * std::pow(answers, law.power()));
  }
  const bool laplace = charter.privacy.mechanism == charter::MechanismName::kLaplace;
  const auto norm = laplace ? learn::ClipIn::kL1 : learn::ClipIn::kL2;
  if (charter.protocol.name == charter::ProtocolName::kAsync) {
    const auto plan = TRY(protocol::async_plan(charter, facts.rows.get()));
    for (const auto& owner : plan.rule.owners) job.weights.push_back(owner.weight);
    std::vector<double> rows;
    for (const charter::Owner& owner : charter.owners)
      rows.push_back(static_cast<double>(owner.rows));
    job.kind = AsyncJob{plan.rule, norm, limit, job.variances, std::move(rows)};
    return job;
  }
  auto plan = TRY(protocol::sync_plan(charter, facts.rows.get()));
  for (const auto& owner : plan.owners) job.weights.push_back(owner.weight);
  if (charter.protocol.rule == charter::Rule::kStatistics) {
    job.kind = StatisticsJob{norm, charter.privacy.max_row_norm, label_bound(charter.schema.target),
                             charter.privacy.label_weight, job.variance()};
    return job;
  }
  const bool from_pilot = charter.protocol.start == charter::Start::kPilot;
  // The start is the optimum of other rows than those it is judged by.
  const double spread = from_pilot ? 1 / facts.count() + 1 / owners_rows(charter) : 0;
  const double variance = job.variance();
  job.kind = SyncJob{std::move(plan.schedule), spread, norm, limit, variance};
  return job;
}

void tell_apart(Job& job, const Facts& facts, double differ,
                const std::vector<std::shared_ptr<const learn::Rows>>& owners) {
  auto* async = std::get_if<AsyncJob>(&job.kind);
  if (async == nullptr) return;
  check(owners.empty() || owners.size() == async->rows.size());
  async->differ = differ;
  for (const auto& rows : owners)
    async->curvatures.push_back(learn::smoothed_hessian(facts.loss, *rows, facts.optimum.theta,
                                                        learn::ClipIn::kNone, 0, 0));
}

Prediction predict(const Facts& facts, const Job& job, const Effort& effort) {
  if (const auto* sync = std::get_if<SyncJob>(&job.kind)) return predict(facts, *sync, effort);
  if (const auto* once = std::get_if<StatisticsJob>(&job.kind)) return predict(facts, *once);
  return predict(facts, std::get<AsyncJob>(job.kind), effort);
}

std::unique_ptr<ResponseRuns> response_runs(const Facts& facts, const Job& job,
                                            const Prediction& here) {
  const auto* sync = std::get_if<SyncJob>(&job.kind);
  if (sync == nullptr || here.predictor == "moments") return nullptr;
  return std::make_unique<ResponseRuns>(facts, *sync);
}

Response response_of(const Facts& facts, const Job& job, const Prediction& here,
                     const ResponseRuns* runs) {
  if (runs != nullptr) return runs->response(here);
  if (const auto* sync = std::get_if<SyncJob>(&job.kind)) return response_of(*sync, here);
  if (const auto* once = std::get_if<StatisticsJob>(&job.kind))
    return response_of(facts, *once, here);
  return response_of(facts, std::get<AsyncJob>(job.kind), here);
}

}  // namespace parley::forecast
