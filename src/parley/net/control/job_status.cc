#include "parley/net/control/job_status.h"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "parley/base/version.h"

namespace parley::net {

JobStatus::JobStatus(const charter::Charter& charter, uint64_t rounds, std::string since)
    : charter_(charter), rounds_(rounds), since_(std::move(since)) {
  now_.owners.resize(charter.owners.size());
}

void JobStatus::set(Now now) {
  check(now.owners.size() == charter_.owners.size());
  const std::lock_guard lock(mutex_);
  now_ = std::move(now);
}

void JobStatus::received(size_t bytes) {
  const std::lock_guard lock(mutex_);
  received_ += bytes;
}

void JobStatus::sent(size_t bytes) {
  const std::lock_guard lock(mutex_);
  sent_ += bytes;
}

void JobStatus::refused(Code why) {
  const std::lock_guard lock(mutex_);
  ++refusals_[why];
}

std::string JobStatus::to_json() const {
  using Json = nlohmann::ordered_json;
  const auto known = [](const std::optional<double>& seconds) {
    return seconds ? Json(*seconds) : Json();
  };
  const std::lock_guard lock(mutex_);
  std::vector<std::string> owners, attending;
  Json parties = Json::array();
  for (size_t i = 0; i < charter_.owners.size(); ++i) {
    const std::string& name = charter_.owners[i].name;
    const Owner& owner = now_.owners[i];
    owners.push_back(name);
    if (owner.attends) attending.push_back(name);
    parties.push_back({{"name", name},
                       {"attends", owner.attends},
                       {"answers", owner.answers},
                       {"answer_s", known(owner.answer_s)},
                       {"waiting_s", known(owner.waiting_s)},
                       {"lost", owner.lost}});
  }
  return Json{{"format", "parley.learner.status/1"},
              {"version", kVersion},
              {"pid", ::getpid()},
              {"since", since_},
              {"charter", to_hex(charter_.hash)},
              {"name", charter_.name},
              {"learner", charter_.learner.name},
              {"round", now_.round},
              {"rounds", rounds_},
              {"owners", owners},
              {"attending", attending},
              {"seconds_left", known(now_.left_s)},
              {"parties", parties}}
             .dump(2) +
         "\n";
}

std::string JobStatus::about_owners() const {
  const std::lock_guard lock(mutex_);
  std::string away;
  for (size_t i = 0; i < charter_.owners.size(); ++i)
    if (!now_.owners[i].attends) away += (away.empty() ? "" : ", ") + charter_.owners[i].name;
  return now_.round > 0 || away.empty() ? "" : "Not here yet: " + away + ".";
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
  one(kGauge, "parley_job_round", "Rounds that are done.", now_.round);
  one(kGauge, "parley_job_rounds", "Rounds of the job.", rounds_);
  one(kCounter, "parley_received_bytes", "Messages of owners, without TLS.", received_);
  one(kCounter, "parley_sent_bytes", "Our messages, without TLS.", sent_);
  const auto each = [&](OpenMetrics::Kind kind, const char* name, const char* help,
                        const auto& value) {
    metrics.family(kind, name, help);
    for (size_t i = 0; i < charter_.owners.size(); ++i)
      metrics.sample({{"owner", charter_.owners[i].name}},
                     static_cast<double>(value(now_.owners[i])));
  };
  each(kGauge, "parley_owner_attends", "1 while an owner is connected.",
       [](const Owner& owner) { return owner.attends; });
  each(kCounter, "parley_owner_answers", "Answers taken since this process began.",
       [](const Owner& owner) { return owner.answers; });
  metrics.family(kCounter, "parley_refusals", "Messages of owners that were refused, by reason.");
  for (const Code code : {Code::kInvalid, Code::kBudgetExhausted, Code::kPolicy, Code::kUnavailable,
                          Code::kIntegrity, Code::kFailed}) {
    const auto found = refusals_.find(code);
    metrics.sample({{"reason", std::string(name_of(code))}},
                   found == refusals_.end() ? 0 : static_cast<double>(found->second));
  }
}

}  // namespace parley::net
