// How a learner's job stands, for people and machines that ask; for any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/net/control/open_metrics.h"

namespace parley::net {

class JobStatus {
 public:
  struct Owner {
    bool attends = false;
    uint64_t answers = 0;               // to this process
    uint64_t lost = 0;                  // streams that ended before the job did
    std::optional<double> answer_s{};   // the mean time of its answers
    std::optional<double> waiting_s{};  // since it was asked what it has not answered
  };
  struct Now {
    uint64_t round = 0;              // whole rounds
    std::optional<double> left_s{};  // until the last, at the pace so far
    std::vector<Owner> owners{};     // in the charter's order
  };

  JobStatus(const charter::Charter& charter, uint64_t rounds, std::string since);

  void set(Now now);
  void received(size_t bytes);
  void sent(size_t bytes);
  /// A message was refused: it broke the protocol, or was itself a refusal.
  void refused(Code why);

  std::string to_json() const;  // parley.learner.status/1
  void write(OpenMetrics& metrics) const;
  /// Empty, once all owners are there or a round is done.
  std::string about_owners() const;

 private:
  const charter::Charter& charter_;
  const uint64_t rounds_;
  const std::string since_;
  mutable std::mutex mutex_{};
  Now now_;  // with every owner of the charter
  uint64_t received_ = 0, sent_ = 0;
  std::map<Code, uint64_t> refusals_{};
};

}  // namespace parley::net
