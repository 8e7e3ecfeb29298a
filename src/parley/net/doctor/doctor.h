// `parley doctor`: why does it not connect? Checks everything between two parties, in the order in
// which it could fail, and stops at the first thing that is wrong.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "parley/base/clock.h"
#include "parley/base/result.h"
#include "parley/charter/charter.h"
#include "parley/charter/policy.h"
#include "parley/net/identity/identity.h"

namespace parley::net {

/// Asks the learner itself whether it takes part in the job that we mean.
using AskLearner =
    std::function<Result<void>(const Credentials& credentials, const std::string& address)>;

/// Whose connection is looked at, and with whom it should be.
struct Patient {
  charter::Identity files{};  // without sign_key: a learner's
  std::string name{};         // our own, as the policy or the charter says
  std::string dial{};         // host:port; empty: nobody is dialled
  std::string proxy{};        // http://host:port; empty: none
  std::optional<charter::Charter> charter{};
  int deadline_ms = 5000;  // of each step
  AskLearner ask_learner{};
};

struct Finding {
  std::string check{};
  std::string said{};  // what was found; empty if it was not tried
  std::optional<Error> wrong{};
};

struct Diagnosis {
  std::vector<Finding> findings{};
  const Error* wrong() const;  // the first, or nullptr
};
Diagnosis diagnose(const Patient& patient, Clock& clock);

}  // namespace parley::net
