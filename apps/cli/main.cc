// parley: the command line. Results go to stdout, progress and messages to stderr.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <utility>

#include "command.h"
#include "parley/base/printable.h"
#include "parley/base/version.h"
#include "parley/data/sources/child.h"
#include "parley/report/charter.h"
#include "parley/report/provenance.h"

namespace parley::cli {

using Add = void(Commands);
Add add_account, add_audit, add_certs, add_charter, add_data_describe, add_data_generate,
    add_data_prepare, add_data_split, add_data_sql, add_demo, add_doctor, add_engine, add_explore,
    add_forecast, add_init, add_join, add_learner, add_ledger, add_owner, add_predict, add_renew,
    add_reproduce, add_simulate, add_verify;

namespace {

/// Every command, in the order in which --help lists them. add_x is in x.cc, add_join and add_renew
/// in certs.cc, add_data_x in data/x.cc, add_engine in data/sql.cc.
void add_commands(const Commands& root) {
  add_demo(root);
  add_init(root);
  add_charter(root);
  const Commands data = root.group("data", "Inspect, prepare and generate data");
  add_data_describe(data);
  add_data_prepare(data);
  add_data_split(data);
  add_data_sql(data);
  add_data_generate(data);
  add_forecast(root);
  add_explore(root);
  add_simulate(root);
  add_predict(root);
  add_owner(root);
  add_learner(root);
  add_verify(root);
  add_ledger(root);
  add_certs(root);
  add_join(root);
  add_renew(root);
  add_doctor(root);
  add_account(root);
  add_audit(root);
  add_reproduce(root);
  add_engine(root);
}

int fail(const Error& error, bool json) {
  if (log_style == LogStyle::kJson) {
    log_line({net::log::kFailed, describe(error) + (error.hint.empty() ? "" : ". " + error.hint)});
  } else {
    std::fprintf(stderr, "parley: %s\n", printable_lines(describe(error)).c_str());
    if (!error.hint.empty()) std::fprintf(stderr, "%s\n", printable_lines(error.hint).c_str());
  }
  if (json) std::fputs(report::to_json(error).c_str(), stdout);
  return exit_status(error.code);
}

/// Reads what was typed. Gives an exit status if there is nothing to run: after --help, --version
/// or a mistake, each of which has been printed.
std::optional<int> parse(int argc, const char* const* argv, Invocation& invocation) {
  CLI::App root(
      "Parley: decide whether to train a model together, train it without records leaving "
      "their owners, and prove what was spent.",
      "parley");
  root.set_version_flag("--version", std::string(kVersion));
  root.add_flag("--json", invocation.json, "Print one JSON object");
  root.add_flag("--quiet", invocation.quiet, "No progress");
  root.add_option_function<std::string>(
          "--log",
          [](const std::string& style) {
            log_style = style == "json" ? LogStyle::kJson : LogStyle::kText;
          },
          "Of daemons: json gives one object a line on stderr, and no progress")
      ->check(CLI::IsMember({"text", "json"}))
      ->default_str("text");
  root.require_subcommand(1)->fallthrough();
  root.failure_message(CLI::FailureMessage::simple);
  add_commands({root, invocation});
  try {
    root.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return root.exit(error) == 0 ? 0 : exit_status(Code::kInvalid);
  }
  return std::nullopt;
}

int execute(const Invocation& invocation, std::vector<std::string> command) {
  report::set_provenance({std::move(command), invocation.seed});
  const bool quiet = invocation.quiet || log_style == LogStyle::kJson;
  const auto output = invocation.run(progress_style(quiet));
  if (!output) return fail(output.error(), invocation.json);
  if (!invocation.json && !quiet) std::fputs(output->note.c_str(), stderr);
  const std::string& printed = invocation.json ? output->json : output->text;
  if (std::fwrite(printed.data(), 1, printed.size(), stdout) != printed.size() ||
      std::fflush(stdout) != 0)
    return fail({Code::kFailed, "cannot write to standard output"}, false);
  return output->exit;
}

}  // namespace
}  // namespace parley::cli

int main(int argc, char** argv) {
  parley::cli::say_why_it_ends();
  parley::data::this_program_is_ours();
  parley::cli::Invocation invocation;
  const auto exit = parley::cli::parse(argc, argv, invocation);
  return exit ? *exit : parley::cli::execute(invocation, {argv, argv + argc});
}
