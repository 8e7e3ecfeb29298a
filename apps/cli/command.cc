#include "command.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>

#include "parley/base/clock.h"
#include "parley/base/math/number.h"
#include "parley/base/printable.h"
#include "parley/data/readers/csv_signs.h"

namespace parley::cli {

CLI::App& Commands::subcommand(const std::string& name, const std::string& help) const {
  return *app_.add_subcommand(name, help)->fallthrough();
}

void Commands::when_chosen(CLI::App& app, std::function<void()> act) {
  app.callback(std::move(act));
}

Commands Commands::group(const std::string& name, const std::string& help) const {
  return {*subcommand(name, help).require_subcommand(1), chosen_};
}

void charter_argument(CLI::App& app, std::filesystem::path& charter) {
  app.add_option("charter", charter, "Charter file")->required()->type_name("FILE");
}

std::string user_name() {
  const char* behind = std::getenv("SUDO_USER");
  const passwd* user = behind == nullptr ? getpwuid(geteuid()) : nullptr;
  std::string name = behind ? behind : user ? user->pw_name : std::to_string(geteuid());
  std::erase_if(name, [](char c) {
    return !std::isgraph(static_cast<unsigned char>(c)) || c == '"' || c == '\\';
  });
  return name.empty() ? "unknown" : name.substr(0, 100);
}

void policy_argument(CLI::App& app, std::filesystem::path& policy) {
  app.add_option("policy", policy, "Policy file")->required()->type_name("FILE");
}

void repeated(CLI::Option* option, const std::string& type_name) {
  option->type_name(type_name)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void set_option(CLI::App& app, std::vector<std::string>& set) {
  repeated(app.add_option("--set", set, "Change a key of the charter: privacy.max_grad_norm=4"),
           "KEY=VALUE");
}

void epsilon_option(CLI::App& app, std::vector<std::string>& epsilon) {
  repeated(app.add_option("--epsilon", epsilon,
                          "Budget for this job, of every owner or of one: --epsilon bank-a=0.5"),
           "EPSILON|OWNER=EPSILON");
}

Result<PerOwner> per_owner(const std::vector<std::string>& texts, const std::string& option) {
  PerOwner found;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const auto number = parse_number(text.substr(equals == std::string::npos ? 0 : equals + 1));
    if (!number || !(*number > 0) || equals == 0)
      return Error{Code::kInvalid, option + " " + text + ": not a number above 0, or OWNER=NUMBER",
                   "For example " + option + " 1 or " + option + " bank-a=0.5."};
    if (equals == std::string::npos)
      found.all = *number;
    else
      found.owners.emplace_back(text.substr(0, equals), *number);
  }
  return found;
}

void threads_option(CLI::App& app, int& threads) {
  app.add_option("--threads", threads, "Threads (default: all)")->check(CLI::Range(1, 1024));
}

void metric_option(CLI::App& app, bool& log_loss) {
  app.add_option_function<std::string>(
         "--metric", [&](const std::string& name) { log_loss = name == "log_loss"; },
         "Measure for two classes (default: auc)")
      ->check(CLI::IsMember({"auc", "log_loss"}));
}

void dial_option(CLI::App& app, std::string& dial) {
  app.add_option("--dial", dial, "Address to dial, in place of the policy's or charter's")
      ->type_name("HOST:PORT");
}

void as_option(CLI::App& app, std::string& name) {
  app.add_option("--as", name, "With protocol.copies: the owner that learns")->type_name("OWNER");
}

void wait_option(CLI::App& app, int64_t& seconds, const std::string& help) {
  constexpr int64_t kYear = 366 * 86400;
  app.add_option("--wait", seconds, help)
      ->type_name("SECONDS")
      ->check(CLI::Range(int64_t{1}, kYear))
      ->capture_default_str();
}

void signs_options(CLI::App& app, CsvSigns& signs) {
  signs = data::kFindSigns;
  const auto add = [&](const char* name, char& sign, const char* help) {
    app.add_option_function<std::string>(
           name,
           [name, &sign](const std::string& text) {
             const bool tab = text == "tab" || text == "\\t";
             if (!tab && text.size() != 1)
               throw CLI::ValidationError(name, "must be one character, or tab");
             sign = tab ? '\t' : text[0];
           },
           help)
        ->type_name("CHAR");
  };
  add("--separator", signs.separator,
      "Field separator of CSV files: a character, or tab (default: detected)");
  add("--decimal", signs.decimal, "Decimal sign in CSV files (default: detected)");
}

int threads_or_all(int threads) {
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

Result<Pair> split_pair(const std::string& text, const std::string& option) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return Error{Code::kInvalid, option + " " + text + ": expected KEY=VALUE"};
  return Pair{text.substr(0, equals), text.substr(equals + 1)};
}

Result<std::vector<Override>> overrides(const std::vector<std::string>& set) {
  std::vector<Override> changes;
  for (const std::string& text : set) {
    Pair pair = TRY(split_pair(text, "--set"));
    changes.push_back({std::move(pair.key), std::move(pair.value)});
  }
  return changes;
}

std::atomic<bool> interrupted = false;
std::atomic<uint32_t> reloads = 0;

void heed_interrupts() {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { interrupted = true; });
}

void heed_signals() {
  heed_interrupts();
  std::signal(SIGHUP, [](int) { ++reloads; });
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // A file that may not grow is an error, like a full disk.
}

namespace {

[[noreturn]] void end_with(std::string_view words) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, words.data(), words.size());
  ::_exit(exit_status(Code::kFailed));
}

}  // namespace

void say_why_it_ends() {
  std::set_new_handler([] {
    end_with(
        "parley: out of memory\n"
        "Nothing that was written is lost. Free memory or raise its limit (ulimit -v), and start "
        "again.\n");
  });
  std::set_terminate([] {
    try {
      if (const auto cause = std::current_exception()) std::rethrow_exception(cause);
    } catch (const std::exception& error) {
      end_with("parley: failed: " + printable(error.what()) + "\n");
    } catch (...) {
    }
    end_with("parley: failed for a reason that it does not know\n");
  });
}

LogStyle log_style = LogStyle::kText;

namespace {

/// Is stderr the journal's own stream? (systemd.exec(5), $JOURNAL_STREAM)
bool is_journal() {
  const char* named = std::getenv("JOURNAL_STREAM");
  struct stat found{};
  if (named == nullptr || ::fstat(STDERR_FILENO, &found) != 0) return false;
  return named == std::to_string(found.st_dev) + ":" + std::to_string(found.st_ino);
}

/// As syslog(3) counts.
const char* priority_of(net::Level level) {
  return level == net::Level::kError ? "<3>" : level == net::Level::kWarning ? "<4>" : "<6>";
}

const char* name_of(net::Level level) {
  return level == net::Level::kError ? "error" : level == net::Level::kWarning ? "warning" : "info";
}

std::string json_line(const net::LogLine& line, const std::string& at) {
  return nlohmann::ordered_json{{"at", at},
                                {"level", name_of(line.event.level)},
                                {"event", line.event.name},
                                {"job", printable(line.job)},
                                {"text", printable_lines(line.text)}}
      .dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

/// Only what begins with a time, after the journal's priority, is a line of its own.
std::string text_line(const net::LogLine& line, const std::string& at) {
  static const bool journal = is_journal();
  const std::string before = journal ? priority_of(line.event.level) : "";
  std::string shown = printable_lines(std::string(line));
  const std::string next = before + "  ";
  for (size_t end = 0; (end = shown.find('\n', end)) != shown.npos; end += next.size() + 1)
    shown.insert(end + 1, next);
  return before + at + " " + shown;
}

}  // namespace

void log_line(const net::LogLine& line) {
  SystemClock clock;
  const std::string at = clock.now();
  std::fprintf(stderr, "%s\n",
               (log_style == LogStyle::kJson ? json_line(line, at) : text_line(line, at)).c_str());
}

}  // namespace parley::cli
