#include "parley/owner.h"

#include <utility>

#include "parley/api/daemons.h"
#include "parley/api/internal.h"
#include "parley/base/entropy.h"
#include "parley/base/files.h"
#include "parley/net/owner_service.h"

namespace parley {

Result<std::vector<OwnerJob>> api::run_owner(const Policy& handle, const OwnerOptions& options,
                                             const std::atomic<bool>& stop) {
  const charter::Policy& policy = handle.internal().policy;
  SystemClock clock;
  SystemEntropy entropy;
  const net::Log log = options.log ? options.log : [](const std::string&) {};
  const net::ServiceOptions service{.charters = options.charters,
                                    .dial = options.dial,
                                    .listen = options.listen,
                                    .learner = options.learner,
                                    .patience = {.absent = options.wait}};
  return net::serve(policy, service, entropy, clock, stop, log);
}

Result<std::vector<OwnerJob>> run_owner(const Policy& policy, const OwnerOptions& options) {
  const api::StopFlag stop(options.stop);
  return api::run_owner(policy, options, stop.flag());
}

Result<void> approve(const Policy& handle, const Charter& charter_handle, const std::string& by,
                     const std::string& reason) {
  const charter::Policy& policy = handle.internal().policy;
  const charter::Charter& charter = charter_handle.internal().charter;
  SystemClock clock;
  TRY(policy.dataset_for(charter));  // What no rule allows, no person can approve.
  const auto approval = policy.approval_of(charter);
  TRY(make_directories(approval.parent_path()));
  if (reason.find('\n') != std::string::npos)
    return Error{Code::kInvalid, "the reason is not one line of text",
                 "Leave out its line breaks."};
  return write_file(approval, clock.now() + " " + by + (reason.empty() ? "" : " " + reason) + "\n");
}

}  // namespace parley
