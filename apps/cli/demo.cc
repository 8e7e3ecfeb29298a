// parley demo
#include "commands.h"
#include "demo_charter.h"
#include "parley/base/files.h"
#include "parley/forecast/forecast.h"
#include "parley/report/forecast/beside.h"
#include "parley/sim/load.h"

namespace parley::cli {
namespace {

/// The example's charter, with so many rows, and where a person finds it afterwards.
Result<charter::Charter> write_charter(const DemoOptions& options) {
  std::string text = kDemoCharter;
  const std::string rows = "rows     = 100000";
  for (size_t at = text.find(rows); at != std::string::npos; at = text.find(rows, at + 1))
    text.replace(at, rows.size(), "rows     = " + std::to_string(options.rows));
  const auto file = options.out / "three-banks.charter.toml";
  TRY(make_directories(options.out));
  TRY(write_file(file, text));
  return charter::read_charter(file);
}

}  // namespace

Result<Output> run(const DemoOptions& options, ProgressStyle style) {
  const charter::Charter charter = TRY(write_charter(options));
  const sim::SimulateInput input = TRY(sim::load_standin(charter, "lending", 1));
  const int threads = threads_or_all(options.threads);
  forecast::Forecast forecast =
      TRY(forecast::forecast(charter, input.pilot, {.compare = true, .threads = threads}));
  const auto answers = static_cast<uint64_t>(charter.answers()) * input.owners.size();
  Progress progress(style, "training", answers * options.runs);
  const auto result =
      TRY(sim::simulate(input, {.seed = options.seed,
                                .runs = options.runs,
                                .threads = threads,
                                .out = options.out / "run",
                                .progress = [&](uint64_t done) { progress.advance(done); }}));
  progress.finish();
  report::add_realised(forecast, result);
  const auto page = options.out / "forecast.html";
  TRY(write_file(page, report::to_html(forecast)));
  forecast.report = page.string();
  return Output{report::beside_text(forecast, result), report::beside_json(forecast, result)};
}

}  // namespace parley::cli
