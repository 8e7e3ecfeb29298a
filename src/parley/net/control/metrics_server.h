// The metrics of a daemon for monitoring: /metrics, /healthz and /readyz, on loopback or a Unix
// socket, without sign-in. Public facts only; docs/how-to/monitor.md says why each is public.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "parley/base/clock.h"
#include "parley/net/control/log.h"
#include "parley/net/control/open_metrics.h"
#include "parley/net/identity/live_credentials.h"
#include "parley/net/web/server.h"

namespace parley::net {

/// What is known of any daemon; for any thread.
class DaemonFacts {
 public:
  /// `folder` is the one that must not be full; `clock` must outlive this.
  DaemonFacts(std::string role, LiveCredentials credentials, std::filesystem::path folder,
              Clock& clock);

  void logged(const LogEvent& event);
  void write(OpenMetrics& metrics) const;
  /// Empty, or why our certificate is not valid.
  std::string about_certificate() const;

 private:
  const std::string role_;
  const LiveCredentials credentials_;
  const std::filesystem::path folder_;
  Clock& clock_;
  const int64_t since_;
  mutable std::mutex mutex_{};
  std::map<std::pair<std::string_view, Level>, uint64_t> lines_{};
};

struct MetricsPages {
  std::function<void(OpenMetrics& metrics)> write;
  std::function<std::vector<std::string>()> obstacles;  // sentences; none: ready
};

/// host:port of this machine, or unix:PATH; kInvalid if other machines could reach it.
Result<HttpServer> serve_metrics(const std::string& listen, MetricsPages pages);

}  // namespace parley::net
