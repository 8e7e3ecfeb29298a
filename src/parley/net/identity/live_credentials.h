// Credentials that can be replaced while they are in use: a renewed certificate, or a newer list of
// revoked ones, is read again during a job. Open streams go on unless their peer is on the list;
// new streams use the new files.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "parley/net/control/log.h"
#include "parley/net/identity/identity.h"

namespace parley::net {

/// A handle: copies see the same credentials. For any thread.
class LiveCredentials {
 public:
  LiveCredentials(Credentials first);  // NOLINT: those that nobody replaces are one of these, too

  std::shared_ptr<const Credentials> now() const;
  void replace(Credentials next) const;

 private:
  struct State {
    std::mutex mutex{};
    std::shared_ptr<const Credentials> credentials{};
  };
  std::shared_ptr<State> state_;
};

/// Empty in the first half of our certificate's life; later when it ends, and what to type.
std::string renewal_notice(const Credentials& credentials, Clock& clock);

/// Reads the files again when one of them has changed. What is refused leaves the old credentials
/// in use, with a word in the log: certificate and key are two files, and one comes first. A list
/// of revoked certificates that is older than the one in use is not taken, either; the newest is
/// kept for the next start. Says once a day that our certificate should be renewed.
class CredentialsWatch {
 public:
  using Read = std::function<Result<Credentials>()>;
  /// `clock` must outlive it.
  CredentialsWatch(LiveCredentials live, charter::Identity files, Read read, Clock& clock, Log log);

 private:
  void look_on(const std::stop_token& over);
  void look();
  /// What is to be said besides, or nothing.
  Result<std::string> take();
  std::string keep(const Credentials& next) const;
  void remind();

  LiveCredentials live_;
  charter::Identity files_;
  std::vector<std::filesystem::path> watched_;
  Read read_;
  Clock& clock_;
  Log log_;
  std::string seen_;  // by which a change is known
  std::string said_{};
  int64_t reminded_ = 0;
  std::mutex mutex_{};
  std::condition_variable_any over_{};
  std::jthread thread_;  // Last: it uses all of the above.
};

}  // namespace parley::net
