// parley reproduce [ID...] | --list
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>

#include "command.h"
#include "parley/base/files.h"
#include "parley/base/progress.h"
#include "studies.h"
#if PARLEY_STUDIES
#include "studies/reproduce/output/output.h"
#include "studies/reproduce/registry.h"
#endif

namespace parley::cli {
namespace {

struct ReproduceOptions {
  std::vector<std::string> ids{};  // empty: all
  bool list = false, quick = false;
  std::filesystem::path data{};  // empty: stand-ins
  std::filesystem::path out = "reproduction";
  uint64_t seed = 1;
  std::optional<uint64_t> runs{};
  int threads = 0;  // 0: as many as the machine has
};

#if PARLEY_STUDIES

/// Computes one figure and writes its files, with a progress bar of its own.
Result<reproduce::Figure> compute(const reproduce::Entry& entry, reproduce::Study study,
                                  const std::filesystem::path& out, ProgressStyle style) {
  std::unique_ptr<Progress> progress;
  const std::string title = std::string(entry.id) + " " + std::string(entry.what);
  study.expect = [&](uint64_t units) {  // Without a terminal, one line per figure is enough.
    if (style == ProgressStyle::kBar) progress = std::make_unique<Progress>(style, title, units);
  };
  study.go_on = [&](uint64_t units) {
    if (progress) progress->advance(units);
    return !interrupted;
  };
  const reproduce::Figure figure = TRY(reproduce::compute(entry, study));
  if (style == ProgressStyle::kLines)
    std::fprintf(stderr, "%s: %.1f s\n", title.c_str(), figure.seconds);
  TRY(reproduce::write_figure(figure, out));
  return figure;
}

Result<Output> run(const ReproduceOptions& options, ProgressStyle style) {
  if (options.list) return Output{reproduce::list_text(), reproduce::list_json()};
  reproduce::Study study;
  study.quick = options.quick, study.seed = options.seed, study.runs = options.runs;
  study.data = options.data, study.keep = options.out / "runs";
  study.threads = threads_or_all(options.threads);
  const auto entries = TRY(reproduce::chosen(options.ids, study));
  TRY(make_directories(study.keep));
  heed_interrupts();
  const auto start = std::chrono::steady_clock::now();
  reproduce::Reproduction reproduction{
      .figures = {}, .quick = options.quick, .seed = options.seed, .data = options.data.string()};
  for (const reproduce::Entry* entry : entries) {
    reproduction.figures.push_back(TRY(compute(*entry, study, options.out, style)));
    if (interrupted)
      return Error{Code::kFailed, "interrupted",
                   "Figures that were finished are in " + options.out.string() + "."};
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  reproduction.seconds = taken.count();
  TRY(reproduce::write_summary(reproduction, options.out));
  return Output{reproduce::to_text(reproduction, options.out), reproduce::to_json(reproduction)};
}

#else

Result<Output> run(const ReproduceOptions&, ProgressStyle) {
  return not_built("the papers' figures");
}

#endif

}  // namespace

void add_reproduce(Commands root) {
  const auto [app, options] = root.add<ReproduceOptions>(
      "reproduce", "Compute the papers' figures and claims, with verdicts", run);
  auto* ids = app.add_option("ids", options.ids, "Which (default: all), as --list names them");
  ids->type_name("ID");
  app.add_flag("--list", options.list, "Name the figures and claims")->excludes(ids);
  app.add_flag("--quick", options.quick, "Small sizes and few runs: verdicts mean little");
  app.add_option("--data", options.data,
                 "A folder with the papers' files, or excerpts (default: stand-ins)")
      ->type_name("DIR");
  app.add_option("--out", options.out, "Where CSV, SVG and the page go")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Same seed: same figures")->capture_default_str();
  app.add_option("--runs", options.runs, "Runs of every point (default: by figure)")
      ->check(CLI::Range(uint64_t{4}, uint64_t{100'000}));
  threads_option(app, options.threads);
}

}  // namespace parley::cli
