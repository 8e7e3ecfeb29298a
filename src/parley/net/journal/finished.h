// Charters whose jobs ended well, kept in an owner's state: a daemon that starts again dials no
// learner that is done. It is no proof of anything, and losing it costs a call.
#pragma once

#include <filesystem>
#include <set>

#include "parley/base/bytes.h"
#include "parley/base/result.h"

namespace parley::net {

class FinishedJobs {
 public:
  /// A line for each charter; what is no hash is passed over.
  explicit FinishedJobs(std::filesystem::path file);

  bool has(const Hash& charter) const { return charters_.contains(charter); }
  Result<void> add(const Hash& charter);

 private:
  std::filesystem::path file_;
  std::set<Hash> charters_{};
};

}  // namespace parley::net
