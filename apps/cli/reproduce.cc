// parley reproduce [ID...] | --list
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "commands.h"
#include "interrupt.h"
#include "parley/base/files.h"
#include "parley/base/progress.h"
#include "studies/reproduce/output/output.h"
#include "studies/reproduce/registry.h"

namespace parley::cli {
namespace {

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

}  // namespace

Result<Output> run(const ReproduceOptions& options, ProgressStyle style) {
  if (options.list) return Output{reproduce::list_text(), reproduce::list_json()};
  reproduce::Study study;
  study.quick = options.quick, study.seed = options.seed, study.runs = options.runs;
  study.data = options.data, study.keep = options.out / "runs";
  const int threads = static_cast<int>(std::thread::hardware_concurrency());
  study.threads = options.threads > 0 ? options.threads : std::max(threads, 1);
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

}  // namespace parley::cli
