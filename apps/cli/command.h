// What the commands share. A command is one file with three parts: its options, `run`, which takes
// them and gives what is printed, and add_<command>, which says how they are typed. main.cc has the
// list of commands.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parley/base/progress.h"
#include "parley/base/result.h"
#include "parley/charter.h"
#include "parley/data.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI
namespace parley::api {
struct PageOptions;
}  // namespace parley::api

namespace parley::cli {

/// What goes to stdout: one or the other, never both.
struct Output {
  std::string text;
  std::string json;
  std::string note{};  // beside the text, to stderr
  int exit = 0;        // with what the process exits: a finding may be bad news
};

/// What a person typed, ready to run.
struct Invocation {
  bool json = false;
  bool quiet = false;
  std::optional<uint64_t> seed{};  // of commands that draw something
  std::function<Result<Output>(ProgressStyle)> run{};
};

/// One level of the command line, to which commands are added. CLI11 stays out of this header; a
/// command's file includes it.
class Commands {
 public:
  Commands(CLI::App& app, Invocation& chosen) : app_(app), chosen_(chosen) {}

  template <class Options>
  struct Added {
    CLI::App& app;
    Options& options;  // where the parser puts what was typed
  };
  template <class Options>
  using Run = Result<Output>(const Options& options, ProgressStyle style);

  /// A command. If `options` have a member `seed`, results carry it in their provenance.
  template <class Options>
  Added<Options> add(const std::string& name, const std::string& help, Run<Options>* run,
                     Options defaults = {}) const {
    auto options = std::make_shared<Options>(std::move(defaults));
    CLI::App& app = subcommand(name, help);
    when_chosen(app, [&chosen = chosen_, options, run] {
      if constexpr (requires { options->seed; }) chosen.seed = options->seed;
      chosen.run = [options, run](ProgressStyle style) { return run(*options, style); };
    });
    return {app, *options};
  }

  /// A name under which there are only commands, such as `parley data`.
  Commands group(const std::string& name, const std::string& help) const;

 private:
  CLI::App& subcommand(const std::string& name, const std::string& help) const;
  static void when_chosen(CLI::App& app, std::function<void()> act);

  CLI::App& app_;
  Invocation& chosen_;
};

// Options that several commands have, with one text.
void charter_argument(CLI::App& app, std::filesystem::path& charter);
/// Who types; behind sudo, who typed that.
std::string user_name();

void policy_argument(CLI::App& app, std::filesystem::path& policy);
void set_option(CLI::App& app, std::vector<std::string>& set);
void threads_option(CLI::App& app, int& threads);
/// --metric auc|log_loss, by which two classes are judged.
void metric_option(CLI::App& app, bool& log_loss);
/// --dial in place of what policy or charter say.
void dial_option(CLI::App& app, std::string& dial);
/// --as, the owner that learns.
void as_option(CLI::App& app, std::string& name);
void wait_option(CLI::App& app, int64_t& seconds, const std::string& help);
/// --separator and --decimal of the CSV files that the command names.
void signs_options(CLI::App& app, CsvSigns& signs);
/// Makes it an option that may be given several times, each time with one value.
void repeated(CLI::Option* option, const std::string& type_name);

/// As many as asked for; 0: as many as the machine has.
int threads_or_all(int threads);

/// A progress bar that begins when it first hears of the work.
class ProgressOf {
 public:
  ProgressOf(ProgressStyle style, std::string title) : style_(style), title_(std::move(title)) {}

  /// To be given to what does the work; must not outlive this.
  std::function<void(uint64_t done, uint64_t total)> heard() {
    return [this](uint64_t done, uint64_t total) {
      if (!bar_) bar_.emplace(style_, title_, total);
      bar_->advance(done - std::exchange(shown_, done));
      if (done == total) bar_->finish();
    };
  }

 private:
  ProgressStyle style_;
  std::string title_;
  std::optional<Progress> bar_{};
  uint64_t shown_ = 0;
};

/// "key=value" in two parts, or an error that shows how.
struct Pair {
  std::string key, value;
};
Result<Pair> split_pair(const std::string& text, const std::string& option);

/// "1", for every owner, and "bank-a=0.5", for one of them, in any order.
struct PerOwner {
  std::optional<double> all{};
  std::vector<std::pair<std::string, double>> owners{};
};
Result<PerOwner> per_owner(const std::vector<std::string>& texts, const std::string& option);
/// --epsilon of init and forecast.
void epsilon_option(CLI::App& app, std::vector<std::string>& epsilon);

/// The changes of --set key=value.
Result<std::vector<Override>> overrides(const std::vector<std::string>& set);

/// Set by Ctrl-C and SIGTERM once heed_interrupts was called: long commands look at it and end in
/// order.
extern std::atomic<bool> interrupted;
void heed_interrupts();
/// How often SIGHUP has asked a daemon to read files again.
extern std::atomic<uint32_t> reloads;
/// For daemons: the same, and SIGHUP. Neither whoever reads the log nor the terminal they were
/// started in ends them.
void heed_signals();
/// Where there is no memory left, or a program's mistake ends it: a word about that, and exit
/// status
/// 1. What is on disk is whole at any moment, so that nothing else has to be done.
void say_why_it_ends();

// Of commands with a page in a browser; in explore.cc.
/// --listen, --host and --person-header.
void page_options(CLI::App& app, api::PageOptions& options);
/// Links go to standard output, and whoever reads them is who types.
api::PageOptions with_terminal(const api::PageOptions& options);

/// One line of a daemon's log, with the time.
void log_line(const std::string& line);

}  // namespace parley::cli
