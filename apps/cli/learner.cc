// parley learner run|resume CHARTER, parley learner status DIR and parley learner web CHARTER DIR
#include <CLI/CLI.hpp>
#include <optional>
#include <utility>

#include "command.h"
#include "parley/api/daemons.h"
#include "parley/api/learner_web/consortium.h"
#include "parley/net/control/service_manager.h"
#include "parley/net/control/status_socket.h"
#include "parley/report/network/status.h"

namespace parley::cli {
namespace {

struct LearnerOptions {
  std::filesystem::path charter{};
  std::string as{};  // the owner that learns, where every owner does
  std::filesystem::path identity = ".";
  std::string listen{}, metrics{};
  std::filesystem::path out{};       // empty: as the library chooses
  std::filesystem::path receipts{};  // likewise
  int64_t wait = 600;
  std::string after_alarm{};  // continue, stop; empty: nobody was asked
};

std::optional<bool> decision(const std::string& word) {
  return word.empty() ? std::nullopt : std::optional(word == "continue");
}

Result<Output> run(const LearnerOptions& options, ProgressStyle style) {
  const Charter charter = TRY(Charter::read(options.charter));
  heed_signals();
  net::Watchdog watchdog;
  std::optional<Progress> progress;
  uint64_t shown = 0;
  const parley::LearnerOptions how{.identity = options.identity,
                                   .listen = options.listen,
                                   .out = options.out,
                                   .receipts = options.receipts,
                                   .after_alarm = decision(options.after_alarm),
                                   .as = options.as,
                                   .wait = std::chrono::seconds(options.wait),
                                   .progress = [&](uint64_t round, uint64_t total) {
                                     if (!progress) progress.emplace(style, "rounds", total);
                                     progress->advance(round - std::exchange(shown, round));
                                   }};
  const auto result = api::run_learner(charter, how,
                                       {.stop = interrupted,
                                        .log = log_line,
                                        .ready = [] { net::tell_manager("READY=1"); },
                                        .alive = [&] { watchdog.alive(); },
                                        .metrics = options.metrics});
  net::tell_manager("STOPPING=1");
  if (!result) return result.error();
  if (progress) progress->finish();
  return Output{result->to_text(), result->to_json()};
}

struct LearnerStatusOptions {
  std::filesystem::path out;
};

Result<Output> run(const LearnerStatusOptions& options, ProgressStyle) {
  const report::DaemonStatus status{TRY(net::ask_status(options.out / net::kStatusSocket))};
  return Output{TRY(report::to_text(status)), TRY(report::to_json(status))};
}

struct LearnerWebOptions : api::ConsortiumOptions {
  api::PageOptions page{};
};

Result<Output> run(const LearnerWebOptions& options, ProgressStyle) {
  heed_interrupts();
  TRY(api::consortium_view(options, with_terminal(options.page), interrupted));
  return Output{};
}

void add_learner_web(const Commands& group) {
  const auto [app, options] = group.add<LearnerWebOptions>(
      "web", "Show participants, progress and result in a browser", run);
  charter_argument(app, options.charter);
  app.add_option("out", options.out, "Folder given to `parley learner run` as --out")
      ->required()
      ->type_name("DIR");
  as_option(app, options.as);
  page_options(app, options.page);
}

}  // namespace

void add_learner(Commands root) {
  const Commands group = root.group("learner", "Coordinate a job");
  const auto add = [&](const char* name, const char* help) {
    const auto [app, options] = group.add<LearnerOptions>(name, help, run);
    charter_argument(app, options.charter);
    as_option(app, options.as);
    app.add_option("--identity", options.identity, "Folder with NAME.crt, NAME.key, authority.crt")
        ->capture_default_str();
    app.add_option("--listen", options.listen,
                   "Address to listen on (default: the charter's port on every interface)")
        ->type_name("HOST:PORT");
    app.add_option("--metrics", options.metrics,
                   "Serve /metrics, /healthz and /readyz to this machine")
        ->type_name("HOST:PORT|unix:PATH");
    app.add_option("--out", options.out, "Folder for journal, transcript and model");
    app.add_option(
           "--receipts", options.receipts,
           "Folder of every owner's newest receipt over all jobs (default: receipts in --identity)")
        ->type_name("DIR");
    wait_option(app, options.wait, "Give up after this time without an answer");
    app.add_option("--after-alarm", options.after_alarm,
                   "Decision after an alarm: continue, or stop with the pilot's model")
        ->check(CLI::IsMember({"continue", "stop"}));
  };
  add("run", "Run a job, or continue one that was interrupted");
  add("resume", "The same as run");
  const auto [app, options] =
      group.add<LearnerStatusOptions>("status", "Show the state of a learner's daemon", run);
  app.add_option("out", options.out, "Folder given to `parley learner run` as --out")
      ->required()
      ->type_name("DIR");
  add_learner_web(group);
}

}  // namespace parley::cli
