#include "parley/net/control/metrics_server.h"

#include <algorithm>
#include <array>
#include <utility>

#include "parley/base/version.h"
#include "parley/net/identity/x509.h"

namespace parley::net {
namespace {

using enum OpenMetrics::Kind;

HttpResponse plain_text(int status, std::string body) {
  return {.status = status, .body = std::move(body), .type = "text/plain; charset=utf-8"};
}

HttpResponse answer(const HttpRequest& request, const MetricsPages& pages) {
  if (request.method == "POST") return plain_text(405, "GET and HEAD only.\n");
  if (request.path == "/healthz") return plain_text(200, "ok\n");
  if (request.path == "/readyz") {
    std::string why;
    for (const std::string& each : pages.obstacles()) why += each + "\n";
    return why.empty() ? plain_text(200, "ready\n") : plain_text(503, why);
  }
  if (request.path != "/metrics") return plain_text(404, "/metrics, /healthz and /readyz only.\n");
  const bool asked =
      request.headers.text("accept").find("application/openmetrics-text") != std::string::npos;
  const auto form = asked ? OpenMetrics::Form::kOpenMetrics : OpenMetrics::Form::kPrometheus;
  OpenMetrics metrics(form);
  pages.write(metrics);
  return {.body = std::move(metrics).text(), .type = OpenMetrics::type(form)};
}

std::string_view level_word(Level level) {
  constexpr std::array<std::string_view, 3> kWords{"info", "warning", "error"};
  return kWords[static_cast<size_t>(level)];
}

}  // namespace

DaemonFacts::DaemonFacts(std::string role, LiveCredentials credentials,
                         std::filesystem::path folder, Clock& clock)
    : role_(std::move(role)),
      credentials_(std::move(credentials)),
      folder_(std::move(folder)),
      clock_(clock),
      since_(clock.unix_seconds()) {}

void DaemonFacts::logged(const LogEvent& event) {
  const std::lock_guard lock(mutex_);
  ++lines_[{event.name, event.level}];
}

std::string DaemonFacts::about_certificate() const {
  const Validity valid = validity_of(certificate_from(credentials_.now()->certificate).get());
  const int64_t now = clock_.unix_seconds();
  if (now > valid.until) return "The certificate has ended at " + time_text(valid.until) + ".";
  if (now < valid.from) return "The certificate is valid from " + time_text(valid.from) + ".";
  return "";
}

void DaemonFacts::write(OpenMetrics& metrics) const {
  metrics.family(kGauge, "parley_build_info", "Always 1: what runs, and as whom.");
  const auto credentials = credentials_.now();
  metrics.sample({{"version", std::string(kVersion)},
                  {"commit", std::string(commit())},
                  {"role", role_},
                  {"name", credentials->identity.name}},
                 1);
  metrics.family(kGauge, "parley_start_timestamp_seconds", "When this process began.");
  metrics.sample({}, static_cast<double>(since_));
  metrics.family(kGauge, "parley_certificate_not_after_timestamp_seconds",
                 "When our certificate ends.");
  const Validity valid = validity_of(certificate_from(credentials->certificate).get());
  metrics.sample({}, static_cast<double>(valid.until));
  std::error_code failed;
  const auto space = std::filesystem::space(folder_, failed);
  metrics.family(kGauge, "parley_disk_free_bytes", "Free on the disk with this daemon's state.");
  if (!failed) metrics.sample({}, static_cast<double>(space.available));
  metrics.family(kCounter, "parley_log_lines", "Lines of the log, by event.");
  const std::lock_guard lock(mutex_);
  for (const auto& [event, count] : lines_)
    metrics.sample(
        {{"event", std::string(event.first)}, {"level", std::string(level_word(event.second))}},
        static_cast<double>(count));
}

Result<HttpServer> serve_metrics(const std::string& listen, MetricsPages pages) {
  // Few readers, each short: a newcomer soon takes the place of one who only holds a connection.
  auto server = HttpServer::start(
      {.listen = listen, .connections = 64, .threads = 2, .idle = std::chrono::seconds(5)},
      [pages = std::move(pages)](const HttpRequest& request) {
        HttpResponse response = answer(request, pages);
        response.headers = {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}};
        return response;
      });
  if (server) return server;
  Error error = server.error();
  error.where.key = "metrics.listen";
  error.hint = "Metrics are for this machine: 127.0.0.1:PORT, [::1]:PORT or unix:PATH.";
  return error;
}

}  // namespace parley::net
