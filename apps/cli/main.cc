// parley: the command line. Results go to stdout, progress and messages to stderr.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include "commands.h"
#include "parley/report/charter.h"
#include "parley/report/provenance.h"

namespace parley::cli {
namespace {

int fail(const Error& error, bool json) {
  std::fprintf(stderr, "parley: %s\n", describe(error).c_str());
  if (!error.hint.empty()) std::fprintf(stderr, "%s\n", error.hint.c_str());
  if (json) std::fputs(report::to_json(error).c_str(), stdout);
  return exit_status(error.code);
}

/// Of commands that draw something.
template <class Options>
std::optional<uint64_t> seed_of(const Options& options) {
  if constexpr (requires { options.seed; })
    return options.seed;
  else if constexpr (requires { options.random; })
    return options.random;
  else
    return std::nullopt;
}

int execute(const Invocation& invocation, std::vector<std::string> command) {
  const auto seed =
      std::visit([](const auto& options) { return seed_of(options); }, invocation.command);
  report::set_provenance({std::move(command), seed});
  const ProgressStyle style = progress_style(invocation.quiet);
  const auto output = std::visit(
      [&]<class Options>(const Options& options) -> Result<Output> {
        if constexpr (std::is_same_v<Options, std::monostate>)
          return check(false), Output{};
        else
          return run(options, style);
      },
      invocation.command);
  if (!output) return fail(output.error(), invocation.json);
  if (!invocation.json && !invocation.quiet) std::fputs(output->note.c_str(), stderr);
  const std::string& printed = invocation.json ? output->json : output->text;
  if (std::fwrite(printed.data(), 1, printed.size(), stdout) != printed.size() ||
      std::fflush(stdout) != 0)
    return fail({Code::kFailed, "cannot write to standard output"}, false);
  return output->exit;
}

}  // namespace

int threads_or_all(int threads) {
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

Result<Pair> split_pair(const std::string& text, const std::string& option) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return Error{Code::kInvalid, option + " " + text + ": expected KEY=VALUE"};
  return Pair{text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace parley::cli

int main(int argc, char** argv) {
  const auto parsed = parley::cli::parse(argc, argv);
  return parsed.exit ? *parsed.exit : parley::cli::execute(parsed.invocation, {argv, argv + argc});
}
