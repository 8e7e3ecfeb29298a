// The last check of the doctor: does the learner run the job that we mean?
#pragma once

#include "parley/net/doctor/doctor.h"

namespace parley::net {

/// Greets the learner as the owner would and reads its reply, for at most `patience`. An owner of
/// the same name that attends at that moment loses its stream and comes back by itself; while it is
/// at work, the learner says that instead (kUnavailable).
Result<void> ask_learner(const charter::Policy& policy, const charter::Charter& charter,
                         const Credentials& credentials, const std::string& address,
                         std::chrono::milliseconds patience);

}  // namespace parley::net
