// parley charter hash|check|explain
#include "parley/charter/charter.h"

#include <CLI/CLI.hpp>

#include "command.h"
#include "parley/api/check_trains.h"
#include "parley/plan/explain.h"
#include "parley/report/charter.h"

namespace parley::cli {
namespace {

struct CharterOptions {
  enum class Show { kHash, kCheck, kExplain } show{};
  std::filesystem::path charter{};
  std::vector<std::string> set{};  // key=value
};

std::string text_of(const charter::Charter& charter, CharterOptions::Show show) {
  switch (show) {
    case CharterOptions::Show::kHash:
      return to_hex(charter.hash) + "\n";
    case CharterOptions::Show::kCheck:
      return report::to_text(charter);
    case CharterOptions::Show::kExplain:
      return plan::explain(charter);
  }
  return check(false), "";
}

Result<Output> run(const CharterOptions& options, ProgressStyle) {
  const charter::Charter charter =
      TRY(charter::read_charter(options.charter, TRY(overrides(options.set))));
  if (options.show == CharterOptions::Show::kCheck) TRY(api::check_trains(charter));
  return Output{text_of(charter, options.show), report::to_json(charter)};
}

}  // namespace

void add_charter(Commands root) {
  using Show = CharterOptions::Show;
  const Commands group = root.group("charter", "Inspect a charter");
  const auto add = [&](Show show, const char* name, const char* help) {
    const auto [app, options] = group.add<CharterOptions>(name, help, run, {.show = show});
    charter_argument(app, options.charter);
    set_option(app, options.set);
  };
  add(Show::kHash, "hash", "Print the SHA-256 that names the job");
  add(Show::kCheck, "check", "Say whether it is valid and complete");
  add(Show::kExplain, "explain", "Say in sentences what it means");
}

}  // namespace parley::cli
