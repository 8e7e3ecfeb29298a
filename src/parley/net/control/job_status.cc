#include "parley/net/control/job_status.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "parley/base/version.h"

namespace parley::net {

JobStatus::JobStatus(const charter::Charter& charter, uint64_t rounds, std::string since)
    : charter_(charter), rounds_(rounds), since_(std::move(since)) {}

void JobStatus::set(uint64_t round, std::vector<std::string> attending) {
  const std::lock_guard lock(mutex_);
  round_ = round, attending_ = std::move(attending);
}

void JobStatus::received(size_t bytes) {
  const std::lock_guard lock(mutex_);
  received_ += bytes;
}

void JobStatus::sent(size_t bytes) {
  const std::lock_guard lock(mutex_);
  sent_ += bytes;
}

void JobStatus::answered(const std::string& owner) {
  const std::lock_guard lock(mutex_);
  ++answers_[owner];
}

void JobStatus::refused(Code why) {
  const std::lock_guard lock(mutex_);
  ++refusals_[why];
}

bool JobStatus::attends(const std::string& owner) const {
  return std::find(attending_.begin(), attending_.end(), owner) != attending_.end();
}

std::string JobStatus::to_json() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> owners;
  for (const charter::Owner& owner : charter_.owners) owners.push_back(owner.name);
  return nlohmann::ordered_json{{"format", "parley.learner.status/1"},
                                {"version", kVersion},
                                {"pid", ::getpid()},
                                {"since", since_},
                                {"charter", to_hex(charter_.hash)},
                                {"name", charter_.name},
                                {"learner", charter_.learner.name},
                                {"round", round_},
                                {"rounds", rounds_},
                                {"owners", owners},
                                {"attending", attending_}}
             .dump(2) +
         "\n";
}

std::string JobStatus::about_owners() const {
  const std::lock_guard lock(mutex_);
  std::string away;
  for (const charter::Owner& owner : charter_.owners)
    if (!attends(owner.name)) away += (away.empty() ? "" : ", ") + owner.name;
  return round_ > 0 || away.empty() ? "" : "Not here yet: " + away + ".";
}

void JobStatus::write(OpenMetrics& metrics) const {
  using enum OpenMetrics::Kind;
  const std::lock_guard lock(mutex_);
  const OpenMetrics::Labels job{{"charter", charter_.name},
                                {"id", to_hex(charter_.hash).substr(0, 12)}};
  const auto one = [&](OpenMetrics::Kind kind, const char* name, const char* help, uint64_t value) {
    metrics.family(kind, name, help);
    metrics.sample(job, static_cast<double>(value));
  };
  one(kGauge, "parley_job_under_way", "1 from a job's beginning to its end.", 1);
  one(kGauge, "parley_job_round", "Rounds that are done.", round_);
  one(kGauge, "parley_job_rounds", "Rounds of the job.", rounds_);
  one(kCounter, "parley_received_bytes", "Messages of owners, without TLS.", received_);
  one(kCounter, "parley_sent_bytes", "Our messages, without TLS.", sent_);
  metrics.family(kGauge, "parley_owner_attends", "1 while an owner is connected.");
  for (const charter::Owner& owner : charter_.owners)
    metrics.sample({{"owner", owner.name}}, attends(owner.name) ? 1 : 0);
  metrics.family(kCounter, "parley_owner_answers", "Answers taken since this process began.");
  for (const charter::Owner& owner : charter_.owners) {
    const auto found = answers_.find(owner.name);
    metrics.sample({{"owner", owner.name}},
                   found == answers_.end() ? 0 : static_cast<double>(found->second));
  }
  metrics.family(kCounter, "parley_refusals", "Messages of owners that were refused, by reason.");
  for (const Code code : {Code::kInvalid, Code::kBudgetExhausted, Code::kPolicy, Code::kUnavailable,
                          Code::kIntegrity, Code::kFailed}) {
    const auto found = refusals_.find(code);
    metrics.sample({{"reason", std::string(name_of(code))}},
                   found == refusals_.end() ? 0 : static_cast<double>(found->second));
  }
}

}  // namespace parley::net
