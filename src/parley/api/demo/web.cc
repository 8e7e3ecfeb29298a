#include "parley/api/demo/web.h"

#include <mutex>
#include <thread>
#include <utility>

#include "parley/api/demo/job.h"
#include "parley/api/explore/explore.h"
#include "parley/api/internal.h"
#include "parley/base/files.h"
#include "parley/report/demo/picture.h"
#include "parley/report/demo/web.h"
#include "parley/report/page/web.h"

namespace parley::api {
namespace {

using net::HttpResponse, net::Visit;

/// The job that the page trains, one at a time. Its functions are called from several threads.
class WebJob {
 public:
  WebJob(DemoData data, DemoOptions options, const Explorer& explorer)
      : data_(std::move(data)), options_(std::move(options)), explorer_(explorer) {}

  HttpResponse start(const Visit& visit) {
    const auto fields = net::parse_form(visit.request.form.text("state"));
    const std::lock_guard lock(mutex_);
    if (runs_ || !fields)
      return {.status = runs_ ? 409 : 400,
              .body = report::web_notice("Nothing was done", "A job is under way already: /job.")};
    if (thread_.joinable()) thread_.join();
    const report::Explored state = state_of(explorer_, *fields);
    runs_ = true;
    job_ = {.query = query_of(state)};
    outcome_.reset();
    thread_ = std::thread([this, state] { run(state); });
    return net::see_other("/job");
  }
  HttpResponse page(const Visit& visit) {
    return told([&](const report::DemoJob& job) { return demo_job_page(job, visit.token); });
  }
  HttpResponse live(const Visit&) { return told(report::demo_job_live); }
  HttpResponse picture(const Visit&) {
    const std::lock_guard lock(mutex_);
    if (!outcome_) return {.status = 404, .body = report::web_notice("No picture yet", "")};
    return {.body = report::picture_of(*outcome_), .type = "image/svg+xml"};
  }
  /// After the server has ended.
  void wait() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  template <class Page>
  HttpResponse told(const Page& page) {
    const std::lock_guard lock(mutex_);
    if (!runs_ && !outcome_ && job_.failed.empty()) return net::see_other("/");
    report::DemoJob job = job_;
    job.demo = outcome_ ? &*outcome_ : nullptr;
    return {.body = page(job)};
  }

  void run(const report::Explored& state) {
    auto outcome = trained(state);
    const std::lock_guard lock(mutex_);
    if (outcome)
      outcome_ = *std::move(outcome);
    else
      job_.failed = describe(outcome.error()) + ". " + outcome.error().hint;
    runs_ = false;
  }

  Result<report::Demo> trained(const report::Explored& state) {
    const Forecast forecast = TRY(forecast_of(explorer_, state));
    const auto file = options_.out / "tried.charter.toml";  // Beside the first, as it was agreed.
    TRY(write_file(file, forecast.charter_text()));
    const Charter charter = TRY(Charter::read(file));
    {
      const std::lock_guard lock(mutex_);
      job_.owners = charter.internal().charter.owners.size();
      job_.answers_in_all = job_.owners * charter.internal().charter.answers();
    }
    DemoOptions options = options_;
    options.training = [this](uint64_t done, uint64_t) { note(job_.answers, done); };
    options.judging = [this](uint64_t done, uint64_t) { note(job_.judged, done); };
    return train(data_, options, charter, forecast);
  }

  void note(uint64_t& what, uint64_t done) {
    const std::lock_guard lock(mutex_);
    what = done;
  }

  const DemoData data_;
  const DemoOptions options_;
  const Explorer& explorer_;
  std::mutex mutex_{};
  bool runs_ = false;
  report::DemoJob job_{};
  std::optional<report::Demo> outcome_{};
  std::thread thread_{};
};

}  // namespace

Result<void> demo_pages(const DemoTable& table, const DemoOptions& options, const PageOptions& page,
                        const std::atomic<bool>& stop) {
  const DemoData data =
      TRY(table.file.empty() ? hospitals_data(options) : table_data(table, options));
  TRY(agree(data, options));
  Explorer explorer = TRY(explorer_of(options.out / (data.name + ".charter.toml")));
  explorer.how = forecast_options(data, options);
  explorer.trains = true;
  explorer.as_it_is = TRY(forecast_of(explorer, state_of(explorer, {})));
  WebJob job(data, options, explorer);
  auto routes = explore_routes(explorer);
  const auto to = [&job](HttpResponse (WebJob::*answer)(const Visit&)) {
    return [&job, answer](const Visit& visit) { return (job.*answer)(visit); };
  };
  routes.push_back({"POST", "/train", to(&WebJob::start)});
  routes.push_back({"GET", "/job", to(&WebJob::page)});
  routes.push_back({"GET", "/job/live", to(&WebJob::live)});
  routes.push_back({"GET", "/picture.svg", to(&WebJob::picture)});
  const auto served = serve_pages(page, std::move(routes), stop);
  job.wait();
  return served;
}

}  // namespace parley::api
