#include <algorithm>
#include <cmath>
#include <utility>

#include "parley/base/math/number.h"
#include "parley/forecast/pilot/statistics.h"
#include "parley/forecast/predict/predict.h"
#include "parley/plan/can_run.h"
#include "parley/plan/learner/async_plan.h"
#include "parley/plan/learner/pilot.h"
#include "parley/plan/learner/sync_plan.h"
#include "parley/plan/noise.h"
#include "parley/plan/secagg_terms.h"
#include "parley/plan/sensitivity.h"
#include "parley/plan/vertical_terms.h"

namespace parley::forecast {
namespace {

using charter::Charter, charter::not_available;

/// What the owners' gate would refuse, and what is not forecast.
Result<void> check_federated(const Charter& charter) {
  const charter::Privacy& privacy = charter.privacy;
  if (privacy.evaluate > 0)
    return not_available("privacy.evaluate", shortest(privacy.evaluate),
                         "Under protocol federated take evaluate = 0.0.");
  if (charter.protocol.rounds > kLocalStepsMax / charter.protocol.local_steps())
    return Error{Code::kInvalid,
                 "a forecast of more than " + std::to_string(kLocalStepsMax) +
                     " local steps in all rounds is not available",
                 "Take fewer rounds or local_steps.",
                 {.key = "protocol.local_steps"}};
  TRY(plan::local_update(charter, {}));
  return {};
}

Result<void> check_sharing(const Charter& charter) {
  if (charter.protocol.rule() == charter::Rule::kNoisySharing)
    return Error{
        Code::kInvalid,
        "a forecast of rule \"noisy_sharing\" is not available: every record's own score is "
        "released, so that its noise must hide a single record whatever their number, and "
        "an owner's own columns did better up to epsilon 10 wherever it was tried",
        "Take rule = \"gradients\" or \"statistics\".",
        {.key = "protocol.rule"}};
  return plan::check_no_bundle(charter);
}

Result<void> check_known(const Charter& charter) {
  const charter::Protocol& p = charter.protocol;
  if (p.distance())
    return Error{Code::kInvalid,
                 "rule \"distance\" trains no model, so that nobody gains or loses by it",
                 "See what its number would tell with `parley forecast`.",
                 {.key = "protocol.rule"}};
  if (p.rule() == charter::Rule::kGram)
    return Error{Code::kInvalid,
                 "rule \"gram\" is for jobs without public rows, and nothing can be said about "
                 "its model without any",
                 "See how much noise it would have with `parley forecast` or `charter explain`.",
                 {.key = "protocol.rule"}};
  if (p.as<charter::Federated>()) return check_federated(charter);
  if (charter.columns_apart()) return check_sharing(charter);
  const auto& owner = p.learners.owner;
  const bool apart = owner && owner != charter::OwnerLearner::kOwnNoise;
  if (apart || !charter.central())
    return Error{Code::kInvalid,
                 "owners that learn are forecast for owner_learner = \"own_noise\" only",
                 "Other jobs have no single learner to which every owner answers.",
                 {.key = "protocol.owner_learner"}};
  const bool squared = charter.model.loss == charter::Loss::kSquared;
  if (p.one_at_a_time() && !squared && charter.owners.size() > kAsyncOwnersMax)
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
  double sum = 0, largest = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double own = weights[i] * weights[i] * variances[i];
    sum += own, largest = std::max(largest, own);
  }
  return strictest ? largest : sum;
}

double owners_rows(const Charter& charter) {
  double rows = 0;
  if (charter.records) return static_cast<double>(charter.records->count);  // shared
  for (const charter::Owner& owner : charter.owners) rows += static_cast<double>(owner.rows);
  return rows;
}

namespace {

std::vector<double> rows_of(const Charter& charter) {
  std::vector<double> rows;
  for (const charter::Owner& owner : charter.owners) rows.push_back(double(owner.rows));
  return rows;
}

/// A start at the pilot's optimum is random: covariance in units of PilotStatistics::spread.
double start_spread(const Charter& charter, const PilotStatistics& statistics) {
  const bool from_pilot = charter.protocol.start == charter::Start::kPilot;
  return from_pilot ? 1 / statistics.count() + 1 / owners_rows(charter) : 0;
}

Result<void> add_federated(Job& job, const Charter& charter, const PilotStatistics& statistics,
                           const data::Rows& pilot) {
  const auto update = TRY(plan::local_update(charter, {}));
  const std::vector<double> rows = rows_of(charter);
  job.weights = plan::sum_weights(charter);
  job.strictest = true;
  const bool clipped = charter.privacy.max_grad_norm > 0;
  FederatedJob local{.plan = update.plan(),
                     .rounds = charter.protocol.rounds,
                     .start = std::vector<double>(statistics.dimension()),
                     .start_spread = start_spread(charter, statistics),
                     .norm = clipped ? learn::ClipIn::kL2 : learn::ClipIn::kNone,
                     .limit = update.lattice().max_grad_norm(),
                     .variance = job.variance(),
                     .weights = job.weights,
                     .rows = rows};
  if (local.start_spread > 0) local.start = plan::pilot_optimum(charter, pilot);
  job.kind = std::move(local);
  return {};
}

/// Gradients in a secure sum, whose noise is what the strictest owner needs.
Result<Job> summed_job(Job job, const Charter& charter, const PilotStatistics& statistics) {
  const plan::SecaggPlan shares = TRY(plan::secagg_plan(charter));
  job.weights = plan::sum_weights(charter);
  job.strictest = true;
  const double variance = job.variance();
  job.kind = SyncJob{.schedule = TRY(plan::sync_schedule(charter, statistics.rows.get(),
                                                         shares.owners[0].lattice())),
                     .start_spread = start_spread(charter, statistics),
                     .norm = learn::ClipIn::kL2,
                     .limit = charter.privacy.max_grad_norm,
                     .variance = variance};
  return job;
}

/// Columns in several places: noise as of one owner of all columns, at the strictest budget.
double joint_strength(const Charter& charter, const plan::NoiseLaw& law) {
  const auto all = law.strengths(charter.owners);
  return *std::max_element(all.begin(), all.end());
}

/// Without a dealer products of two owners' columns have both owners' noise: twice the variance in
/// their share of all products. Taken for all of them alike.
double doubled_share(const Charter& charter) {
  double all = 0, squares = 0;
  for (size_t m = 0; m < charter.owners.size(); ++m) {
    const auto width = static_cast<double>(plan::part_schema(charter, m).features().size());
    all += width, squares += width * width;
  }
  return 2 - squares / (all * all);
}

/// Without a dealer, in rounds: the noise of all owners, beside what those that keep to themselves
/// must have.
double noise_of_all(const Charter& charter) {
  const auto owners = static_cast<double>(charter.owners.size());
  const double honest = owners - static_cast<double>(plan::colluders_of(charter));
  return owners / std::max(1.0, honest);
}

Job sharing_job(const Charter& charter, const plan::NoiseLaw& law) {
  Job job{.weights = {1}, .strengths = {joint_strength(charter, law)}};
  const double reach = plan::reach_of(charter) / owners_rows(charter);
  job.variances = {law.variance_of(job.strengths[0], reach, plan::paid_answers(charter))};
  if (charter.protocol.statistics()) {
    if (charter.protocol.without_dealer()) job.variances[0] *= doubled_share(charter);
    job.kind = StatisticsJob{.norm = learn::ClipIn::kL2,
                             .row_norm = plan::row_norm_of(charter),
                             .label = plan::label_bound(charter.schema.target),
                             .label_weight = plan::label_reach(charter),
                             .variance = job.variances[0]};
    return job;
  }
  const bool box = charter.protocol.without_dealer();
  if (box) job.variances[0] *= noise_of_all(charter);
  VerticalJob shared{.steps = plan::joint_steps(charter),
                     .owners = feature_owners(charter),
                     .balls = plan::part_balls(charter),
                     .variance = job.variances[0]};
  if (box) shared.box = charter.model.box;
  job.kind = std::move(shared);
  return job;
}

}  // namespace

Result<Job> job_of(const Charter& charter, const PilotStatistics& statistics,
                   const data::Rows* pilot) {
  TRY(check_known(charter));
  const plan::NoiseLaw law = TRY(plan::NoiseLaw::of(charter));
  if (charter.columns_apart()) return sharing_job(charter, law);
  Job job;
  const double answers = plan::paid_answers(charter);
  const double limit = plan::reach_of(charter);
  job.strengths = law.strengths(charter.owners);
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    const double reach =
        charter.protocol.by_record() ? limit / static_cast<double>(charter.owners[i].rows) : limit;
    job.variances.push_back(law.variance_of(job.strengths[i], reach, answers));
  }
  if (charter.protocol.as<charter::Federated>()) {
    TRY(add_federated(job, charter, statistics, pilot == nullptr ? *statistics.rows : *pilot));
    return job;
  }
  const bool laplace = charter.privacy.mechanism == charter::MechanismName::kLaplace;
  const auto norm = laplace ? learn::ClipIn::kL1 : learn::ClipIn::kL2;
  if (charter.protocol.as<charter::Async>()) {
    const auto plan = TRY(plan::async_plan(charter, statistics.rows.get()));
    for (const auto& owner : plan.rule.owners) job.weights.push_back(owner.weight);
    job.kind = AsyncJob{plan.rule, norm, limit, job.variances, rows_of(charter)};
    return job;
  }
  if (charter.secure_aggregation) return summed_job(std::move(job), charter, statistics);
  auto plan = TRY(plan::sync_plan(charter, statistics.rows.get()));
  for (const auto& owner : plan.owners) job.weights.push_back(owner.weight);
  if (charter.protocol.statistics()) {
    job.kind =
        StatisticsJob{norm, charter.privacy.max_row_norm, plan::label_bound(charter.schema.target),
                      charter.privacy.label_weight, job.variance()};
    return job;
  }
  const double spread = start_spread(charter, statistics), variance = job.variance();
  job.kind = SyncJob{std::move(plan.schedule), spread, norm, limit, variance};
  return job;
}

void set_differences(Job& job, const PilotStatistics& statistics, double differ,
                     const std::vector<std::shared_ptr<const data::Rows>>& owners) {
  if (auto* local = std::get_if<FederatedJob>(&job.kind)) local->differ = differ;
  auto* async = std::get_if<AsyncJob>(&job.kind);
  if (async == nullptr) return;
  check(owners.empty() || owners.size() == async->rows.size());
  async->differ = differ;
  for (const auto& rows : owners)
    async->curvatures.push_back(learn::smoothed_hessian(
        statistics.loss, *rows, statistics.optimum.theta, learn::ClipIn::kNone, 0, 0));
}

Prediction predict(const PilotStatistics& statistics, const Job& job, const Effort& effort) {
  if (const auto* sync = std::get_if<SyncJob>(&job.kind)) return predict(statistics, *sync, effort);
  if (const auto* once = std::get_if<StatisticsJob>(&job.kind)) return predict(statistics, *once);
  if (const auto* local = std::get_if<FederatedJob>(&job.kind))
    return predict(statistics, *local, effort);
  if (const auto* shared = std::get_if<VerticalJob>(&job.kind)) return predict(statistics, *shared);
  return predict(statistics, std::get<AsyncJob>(job.kind), effort);
}

std::unique_ptr<ResponseRuns> response_runs(const PilotStatistics& statistics, const Job& job,
                                            const Prediction& here) {
  const auto* sync = std::get_if<SyncJob>(&job.kind);
  if (sync == nullptr || here.predictor == "moments") return nullptr;
  return std::make_unique<ResponseRuns>(statistics, *sync);
}

Response response_of(const PilotStatistics& statistics, const Job& job, const Prediction& here,
                     const ResponseRuns* runs, int threads) {
  if (runs != nullptr) return runs->response(here);
  if (const auto* sync = std::get_if<SyncJob>(&job.kind)) return response_of(*sync, here);
  if (const auto* once = std::get_if<StatisticsJob>(&job.kind))
    return response_of(statistics, *once, here);
  if (const auto* local = std::get_if<FederatedJob>(&job.kind))
    return response_of(statistics, *local, here, threads);
  if (const auto* shared = std::get_if<VerticalJob>(&job.kind))
    return response_of(statistics, *shared, here);
  return response_of(statistics, std::get<AsyncJob>(job.kind), here);
}

}  // namespace parley::forecast
