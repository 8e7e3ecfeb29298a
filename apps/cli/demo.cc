// parley demo
#include <CLI/CLI.hpp>

#include "command.h"
#include "parley/base/files.h"
#include "parley/forecast/forecast.h"
#include "parley/report/forecast/beside.h"
#include "parley/sim/load.h"

namespace parley::cli {

/// examples/three-banks.charter.toml, which CMake puts into the program.
extern const char* const kDemoCharter;

namespace {

struct DemoOptions {
  std::filesystem::path out = "parley-demo";
  uint64_t rows = 100000;  // of each bank
  uint64_t runs = 20;
  uint64_t seed = 7;
  int threads = 0;  // 0: as many as the machine has
};

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
                                .continue_after_alarm = true,  // Its pilot is of a later time.
                                .out = options.out / "run",
                                .progress = [&](uint64_t done) { progress.advance(done); }}));
  progress.finish();
  report::add_realised(forecast, result);
  const auto page = options.out / "forecast.html";
  TRY(write_file(page, report::to_html(forecast)));
  forecast.report = page.string();
  return Output{report::beside_text(forecast, result), report::beside_json(forecast, result)};
}

}  // namespace

void add_demo(Commands root) {
  const auto [app, options] = root.add<DemoOptions>(
      "demo", "Three banks on generated loans: a forecast, the training, and both side by side",
      run);
  app.add_option("--out", options.out, "Folder for charter, report, model and ledgers")
      ->capture_default_str();
  app.add_option("--rows", options.rows, "Loans of each bank")
      ->check(CLI::Range(uint64_t{100}, uint64_t{10'000'000}))
      ->capture_default_str();
  app.add_option("--runs", options.runs, "Runs beside which the forecast is held")
      ->check(CLI::Range(uint64_t{1}, uint64_t{10'000}))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Same seed: same models, bit for bit")
      ->capture_default_str();
  threads_option(app, options.threads);
}

}  // namespace parley::cli
