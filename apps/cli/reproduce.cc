// parley reproduce [ID...] | --list | --merge DIR...
#include <CLI/CLI.hpp>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <memory>

#include "command.h"
#include "parley/base/files.h"
#include "parley/base/progress.h"
#include "studies.h"
#if PARLEY_STUDIES
#include "studies/reproduce/draws.h"
#include "studies/reproduce/output/output.h"
#include "studies/reproduce/output/parts.h"
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
  std::optional<uint64_t> runs{}, draws{};
  std::string part{};                             // "2/5"
  std::vector<std::filesystem::path> to_merge{};  // folders of parts
  int threads = 0;                                // 0: as many as the machine has
};

#if PARLEY_STUDIES

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Of all threads: what a figure takes on a machine that has other work too.
double processor_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

/// Shows each figure's work, and writes its files once it is drawn.
class Shown {
 public:
  Shown(std::filesystem::path out, ProgressStyle style) : out_(std::move(out)), style_(style) {}

  reproduce::Watch watch() {
    return {.begin = [this](const auto& entry, uint64_t draw,
                            reproduce::Study& study) { begin(entry, draw, study); },
            .drawn = [this](const auto& figure) { return reproduce::write_figure(figure, out_); }};
  }
  /// Without a terminal, one line per figure is enough.
  void end_line() {
    if (style_ == ProgressStyle::kLines && !title_.empty())
      std::fprintf(stderr, "%s: %.1f s, %.1f s of processor time\n", title_.c_str(),
                   seconds_since(start_), processor_seconds() - processor_start_);
    progress_.reset(), title_.clear();
  }

 private:
  void begin(const reproduce::Entry& entry, uint64_t draw, reproduce::Study& study) {
    end_line();
    start_ = Clock::now(), processor_start_ = processor_seconds();
    title_ = std::string(entry.id) + " " + std::string(entry.what);
    if (study.further) title_ += ", draw " + std::to_string(draw + 1);
    study.expect = [this](uint64_t units) {
      if (style_ == ProgressStyle::kBar)
        progress_ = std::make_unique<Progress>(style_, title_, units);
    };
    study.go_on = [this](uint64_t units) {
      if (progress_) progress_->advance(units);
      return !interrupted;
    };
  }

  std::filesystem::path out_;
  ProgressStyle style_;
  std::string title_{};
  Clock::time_point start_{};
  double processor_start_ = 0;
  std::unique_ptr<Progress> progress_{};
};

struct WhichPart {
  uint64_t index = 1, count = 1;
};

Result<WhichPart> which_part(const std::string& text) {
  WhichPart part;
  char rest = 0;
  if (text.empty()) return part;
  if (std::sscanf(text.c_str(), "%" SCNu64 "/%" SCNu64 "%c", &part.index, &part.count, &rest) !=
          2 ||
      part.index < 1 || part.index > part.count)
    return Error{Code::kInvalid, "'" + text + "' is not a part", "Give --part as 2/5."};
  return part;
}

Result<Output> finish(const reproduce::Reproduction& all, const std::filesystem::path& out,
                      double seconds) {
  TRY(reproduce::write_summary(all, out));
  return Output{reproduce::to_text(all, out, seconds), reproduce::to_json(all)};
}

Result<Output> merge(const ReproduceOptions& options) {
  const auto start = Clock::now();
  const reproduce::Reproduction all = TRY(reproduce::merged(options.to_merge));
  for (const reproduce::Figure& figure : all.figures)
    TRY(reproduce::write_figure(figure, options.out));
  return finish(all, options.out, seconds_since(start));
}

Result<Output> run(const ReproduceOptions& options, ProgressStyle style) {
  if (options.list) return Output{reproduce::list_text(), reproduce::list_json()};
  if (!options.to_merge.empty()) return merge(options);
  reproduce::Study study;
  study.quick = options.quick, study.seed = options.seed, study.runs = options.runs;
  study.data = options.data, study.keep = options.out / "runs";
  study.threads = threads_or_all(options.threads);
  const WhichPart part = TRY(which_part(options.part));
  const auto entries =
      reproduce::part_of(TRY(reproduce::chosen(options.ids, study)), part.index, part.count);
  TRY(make_directories(study.keep));
  heed_interrupts();
  const auto start = Clock::now();
  reproduce::Reproduction all{.figures = {},
                              .quick = options.quick,
                              .seed = options.seed,
                              .data = options.data.string(),
                              .draws = options.draws.value_or(options.quick ? 2 : 8),
                              .asked = options.ids};
  Shown shown(options.out, style);
  auto figures = reproduce::compute_all(entries, study, all.draws, shown.watch());
  if (interrupted)
    return Error{Code::kFailed, "interrupted",
                 "Figures that were finished are in " + options.out.string() + "."};
  all.figures = TRY(std::move(figures));
  shown.end_line();
  if (options.part.empty()) return finish(all, options.out, seconds_since(start));
  TRY(reproduce::write_part({part.index, part.count, all}, options.out));
  return Output{reproduce::to_text(all, options.out, seconds_since(start)),
                reproduce::to_json(all)};
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
  auto* ids =
      app.add_option("ids", options.ids, "Figures and claims, as --list names them (default: all)");
  ids->type_name("ID");
  app.add_flag("--list", options.list, "List the figures and claims")->excludes(ids);
  app.add_flag("--quick", options.quick, "Small sizes and few runs: verdicts mean little");
  app.add_option("--data", options.data,
                 "Folder with the papers' files, or excerpts (default: stand-ins)")
      ->type_name("DIR");
  app.add_option("--out", options.out, "Folder for CSV, SVG and the page")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Same seed: same figures")->capture_default_str();
  app.add_option("--runs", options.runs, "Runs of every point (default: by figure)")
      ->check(CLI::Range(uint64_t{4}, uint64_t{100'000}));
  app.add_option("--draws", options.draws,
                 "Draws of every stand-in, for standard errors (default: 8; 2 with --quick)")
      ->check(CLI::Range(uint64_t{2}, uint64_t{1'000}));
  auto* part = app.add_option("--part", options.part,
                              "Only the i-th of n parts; --merge puts them together");
  part->type_name("I/N");
  auto* merge = app.add_option("--merge", options.to_merge,
                               "Folders of all parts: writes what one run would have written");
  merge->type_name("DIR")->excludes(part)->excludes(ids);
  threads_option(app, options.threads);
}

}  // namespace parley::cli
