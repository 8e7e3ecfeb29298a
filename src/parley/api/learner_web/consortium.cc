#include "parley/api/learner_web/consortium.h"

#include <mutex>
#include <optional>
#include <utility>

#include "parley/api/internal.h"
#include "parley/net/control/status_socket.h"
#include "parley/report/consortium/consortium.h"
#include "parley/verify.h"

namespace parley::api {
namespace {

namespace fs = std::filesystem;
using net::HttpResponse, net::Visit;

/// The page of one job. Its functions are called from several threads at once.
class JobPage {
 public:
  JobPage(ConsortiumOptions options, Charter charter)
      : options_(std::move(options)), charter_(std::move(charter)) {}

  HttpResponse page(const Visit& visit) {
    report::ConsortiumJob job = look();
    job.token = visit.token;
    return {.body = report::consortium_page(job)};
  }
  HttpResponse live(const Visit&) { return {.body = report::consortium_live(look())}; }

 private:
  /// Model and transcript are written once, and whole.
  struct Checked {
    fs::file_time_type model{}, transcript{};
    Result<VerifyResult> result;
  };

  report::ConsortiumJob look() {
    const charter::Charter& charter = charter_.internal().charter;
    report::ConsortiumJob job{
        .charter = charter.name, .purpose = charter.purpose, .hash = to_hex(charter.hash)};
    const auto said = net::ask_status(options_.out / net::kStatusSocket);
    if (said)
      job.said = *said;
    else
      job.silence = said.error().what;
    add_outcome(job);
    return job;
  }

  void add_outcome(report::ConsortiumJob& job) {
    std::error_code none;
    const fs::path manifest = options_.out / "manifest.json";
    const bool parts = fs::exists(manifest, none);
    const fs::path model = parts ? manifest : options_.out / "model.json";
    const fs::path transcript = options_.out / "transcript.pb.zst";
    const auto model_time = fs::last_write_time(model, none);
    if (none) return;
    const auto transcript_time = fs::last_write_time(transcript, none);
    if (none) return;
    if (parts) job.manifest = manifest.filename().string();
    if (auto read = parts ? Result<learn::Model>(learn::Model{}) : learn::read_model(model);
        read && !parts)
      job.model = *std::move(read);
    else if (!parts)
      job.unverified = describe(read.error());
    // Another request checks it: this one does not wait.
    const std::unique_lock one_at_a_time(checking_, std::try_to_lock);
    if (!one_at_a_time) return;
    if (!checked_ || checked_->model != model_time || checked_->transcript != transcript_time)
      checked_.emplace(Checked{model_time, transcript_time,
                               verify(model, transcript, charter_, {.as = options_.as})});
    if (checked_->result)
      job.verified = *checked_->result;
    else
      job.unverified = describe(checked_->result.error());
  }

  ConsortiumOptions options_;
  Charter charter_;
  std::mutex checking_{};
  std::optional<Checked> checked_{};
};

}  // namespace

Result<void> consortium_view(const ConsortiumOptions& options, const PageOptions& page,
                             const std::atomic<bool>& stop) {
  JobPage job(options, TRY(Charter::read(options.charter)));
  return serve_pages(page,
                     {{"GET", "/", [&job](const Visit& visit) { return job.page(visit); }},
                      {"GET", "/live", [&job](const Visit& visit) { return job.live(visit); }}},
                     stop);
}

}  // namespace parley::api
