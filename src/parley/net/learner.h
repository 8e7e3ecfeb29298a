// The learner of a job: listens, asks the owners round after round, keeps what they signed, and
// writes the model.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/learner.h"
#include "parley/net/identity/live_credentials.h"
#include "parley/net/takeover.h"
#include "parley/net/transport/transport.h"
#include "parley/protocol/learner.h"

namespace parley::net {

struct LearnerOptions {
  std::string listen;                          // host:port
  std::filesystem::path out;                   // journal, transcript and model
  std::filesystem::path receipts{};            // the newest of every owner, over all jobs
  std::optional<bool> after_alarm{};           // what a person said whom an earlier process asked
  std::chrono::seconds wait{600};              // for owners, without any answer
  std::chrono::milliseconds greeting{10'000};  // an owner that connected must say hello by then
  std::chrono::milliseconds takeover = kTakeover;  // a stream heard of within it is not replaced
  std::string metrics{};                           // host:port or unix:PATH; empty: none
  std::function<void(int port)> opened = [](int) {};
  std::function<void()> alive = [] {};                         // by the loop, again and again
  std::function<void(size_t round)> progress = [](size_t) {};  // after each whole round
};

using parley::LearnerResult;

/// Runs the job to its end, with a learner of its protocol that has done nothing yet; goes on with
/// the journal in `out` if there is one. An owner's refusal ends it with that owner's reason,
/// unless the others are enough; owners that stay away for too long end it with kUnavailable.
/// Whatever ends it, the same call goes on from there.
Result<LearnerResult> run_learner(const charter::Charter& charter, protocol::Learner& learner,
                                  const LiveCredentials& credentials, const LearnerOptions& options,
                                  Clock& clock, const std::atomic<bool>& stop, const Log& log);

}  // namespace parley::net
