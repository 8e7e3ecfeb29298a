// How a learner's job stands, for people and machines that ask; for any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/net/control/open_metrics.h"

namespace parley::net {

class JobStatus {
 public:
  JobStatus(const charter::Charter& charter, uint64_t rounds, std::string since);

  void set(uint64_t round, std::vector<std::string> attending);
  void received(size_t bytes);
  void sent(size_t bytes);
  void answered(const std::string& owner);
  /// Somebody said what it must not, or has said no.
  void refused(Code why);

  std::string to_json() const;  // parley.learner.status/1
  void write(OpenMetrics& metrics) const;
  /// Empty, once all owners are there or a round is done.
  std::string about_owners() const;

 private:
  bool attends(const std::string& owner) const;

  const charter::Charter& charter_;
  const uint64_t rounds_;
  const std::string since_;
  mutable std::mutex mutex_{};
  uint64_t round_ = 0, received_ = 0, sent_ = 0;
  std::vector<std::string> attending_{};
  std::map<std::string, uint64_t> answers_{};  // by owner
  std::map<Code, uint64_t> refusals_{};
};

}  // namespace parley::net
