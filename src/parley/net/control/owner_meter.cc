#include "parley/net/control/owner_meter.h"

#include <algorithm>
#include <functional>

namespace parley::net {
namespace {

using enum OpenMetrics::Kind;

double as_double(uint64_t count) { return static_cast<double>(count); }

bool has_grown(const privacy::Spent& now, const privacy::Spent& before) {
  return now.pure > before.pure || now.rho > before.rho || now.delta > before.delta;
}

}  // namespace

void OwnerMeter::begins(const std::string& charter, const Hash& job, size_t jobs,
                        const Preflight& all) {
  const std::lock_guard lock(mutex_);
  Job& begun = jobs_[job];
  begun.charter = charter, begun.dataset = all.dataset, begun.track = all.track;
  begun.price = all.price / static_cast<double>(jobs);
  begun.answers = static_cast<uint32_t>(all.answers / jobs);
  begun.under_way = true;
}

void OwnerMeter::exchanged(const Hash& job, size_t received, size_t sent,
                           std::chrono::duration<double> took) {
  const std::lock_guard lock(mutex_);
  Job& its = jobs_[job];
  its.received += received, its.sent += sent;
  if (sent == 0) return;
  const auto bucket = std::lower_bound(kSeconds.begin(), kSeconds.end(), took.count());
  ++its.took[static_cast<size_t>(bucket - kSeconds.begin())];
}

void OwnerMeter::look(const charter::Policy& policy, const ledger::Ledger& ledger,
                      const Hash* job) {
  const std::lock_guard lock(mutex_);
  older_copy_ = ledger.missing() > 0;
  for (const charter::Dataset& data : policy.datasets) {
    Account now{.budget = data.budget};
    if (const auto known = ledger.find(data.name))
      now = {.spent = ledger.spent(*known), .budget = ledger.budget(*known)};
    Account& before = accounts_[data.name];
    if (job != nullptr && has_grown(now.spent, before.spent)) has_paid(jobs_[*job]);
    before = now;
  }
  if (job != nullptr) jobs_[*job].round = ledger.last_round(*job);
}

void OwnerMeter::has_paid(Job& job) {
  job.last = std::chrono::steady_clock::now();
  if (job.paid++ == 0) job.first = job.last;
}

OwnerMeter::Traffic OwnerMeter::traffic(const std::vector<Hash>& jobs) const {
  const std::lock_guard lock(mutex_);
  Traffic all;
  double rate = 0;  // Jobs of one charter run side by side.
  for (const Hash& hash : jobs) {
    const auto found = jobs_.find(hash);
    if (found == jobs_.end()) continue;
    const Job& job = found->second;
    all.received += job.received, all.sent += job.sent;
    const std::chrono::duration<double> took = job.last - job.first;
    if (job.paid > 1 && took.count() > 0) rate += as_double(job.paid - 1) / took.count();
  }
  if (rate > 0) all.seconds_per_answer = 1 / rate;
  return all;
}

void OwnerMeter::ended(const Hash& job, const Result<std::optional<Hash>>& how) {
  const std::lock_guard lock(mutex_);
  if (const auto found = jobs_.find(job); found != jobs_.end()) found->second.under_way = false;
  if (!how && how.error().code != Code::kUnavailable) ++refusals_[how.error().code];
}

bool OwnerMeter::is_older_copy() const {
  const std::lock_guard lock(mutex_);
  return older_copy_;
}

/// What jobs under way will still ask for; at most, where a matrix comes before the answers.
double OwnerMeter::reserved(const std::string& dataset, Track track) const {
  double sum = 0;
  for (const auto& [hash, job] : jobs_)
    if (job.under_way && job.dataset == dataset && job.track == track && job.answers > 0)
      sum += job.price * (job.answers - std::min(job.answers, job.round)) / job.answers;
  return sum;
}

void OwnerMeter::write_budgets(OpenMetrics& metrics) const {
  const auto both = [&](const char* name, const char* help, const auto& pure, const auto& zcdp) {
    metrics.family(kGauge, name, help);
    for (const auto& [dataset, account] : accounts_) {
      metrics.sample({{"dataset", dataset}, {"track", "pure"}}, pure(dataset, account));
      metrics.sample({{"dataset", dataset}, {"track", "zcdp"}}, zcdp(dataset, account));
    }
  };
  using Name = const std::string&;
  both(
      "parley_budget_spent", "Spent of the lifetime budget: epsilon (pure) or rho (zcdp).",
      [](Name, const Account& of) { return of.spent.pure; },
      [](Name, const Account& of) { return of.spent.rho; });
  both(
      "parley_budget_reserved", "What jobs under way will still ask for at most.",
      [&](Name dataset, const Account&) { return reserved(dataset, Track::kPure); },
      [&](Name dataset, const Account&) { return reserved(dataset, Track::kZcdp); });
  both(
      "parley_budget_limit", "The lifetime budget: epsilon (pure) or rho (zcdp).",
      [](Name, const Account& of) { return of.budget.pure_max; },
      [](Name, const Account& of) { return of.budget.rho_max; });
  metrics.family(kGauge, "parley_epsilon_limit", "The promise: both tracks as one epsilon.");
  for (const auto& [dataset, account] : accounts_)
    metrics.sample({{"dataset", dataset}}, account.budget.epsilon);
}

void OwnerMeter::write_jobs(OpenMetrics& metrics) const {
  const auto each = [&](OpenMetrics::Kind kind, const char* name, const char* help,
                        const std::function<double(const Job&)>& value) {
    metrics.family(kind, name, help);
    for (const auto& [hash, job] : jobs_)
      metrics.sample({{"charter", job.charter}, {"id", to_hex(hash).substr(0, 12)}}, value(job));
  };
  each(kGauge, "parley_job_under_way", "1 from a job's beginning to its end.",
       [](const Job& job) { return job.under_way ? 1. : 0.; });
  each(kGauge, "parley_job_round", "The last round whose answer is in the ledger.",
       [](const Job& job) { return as_double(job.round); });
  each(kGauge, "parley_job_rounds", "Answers that the charter asks for.",
       [](const Job& job) { return as_double(job.answers); });
  each(kCounter, "parley_answers", "Answers paid for since this process began.",
       [](const Job& job) { return as_double(job.paid); });
  each(kCounter, "parley_received_bytes", "Messages of learners, without TLS.",
       [](const Job& job) { return as_double(job.received); });
  each(kCounter, "parley_sent_bytes", "Our messages, without TLS.",
       [](const Job& job) { return as_double(job.sent); });
  metrics.family(kHistogram, "parley_reply_seconds",
                 "From a message to our reply, as the learner sees it.");
  for (const auto& [hash, job] : jobs_)
    metrics.buckets({{"charter", job.charter}, {"id", to_hex(hash).substr(0, 12)}},
                    {kSeconds.begin(), kSeconds.end()}, {job.took.begin(), job.took.end()});
}

void OwnerMeter::write(OpenMetrics& metrics) const {
  const std::lock_guard lock(mutex_);
  write_budgets(metrics);
  write_jobs(metrics);
  metrics.family(kCounter, "parley_refusals", "Jobs that ended early or never began, by reason.");
  for (const Code code :
       {Code::kInvalid, Code::kBudgetExhausted, Code::kPolicy, Code::kIntegrity, Code::kFailed}) {
    const auto found = refusals_.find(code);
    metrics.sample({{"reason", std::string(name_of(code))}},
                   found == refusals_.end() ? 0 : as_double(found->second));
  }
}

}  // namespace parley::net
