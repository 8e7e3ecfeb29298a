// `parley learner web`: the page on which the learner's staff follow a job. It asks the daemon's
// status socket and reads the job's folder, so it may run before, beside and after the daemon. It
// changes nothing.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>

#include "parley/api/web/serve.h"

namespace parley::api {

struct ConsortiumOptions {
  std::filesystem::path charter{};
  std::filesystem::path out{};  // the daemon's --out
  std::string as{};             // the owner that learns, where every owner does
};

/// Until `stop` is set. An error at once if the charter cannot be read.
Result<void> consortium_view(const ConsortiumOptions& options, const PageOptions& page,
                             const std::atomic<bool>& stop);

}  // namespace parley::api
