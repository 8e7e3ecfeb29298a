// parley charter hash|check|explain
#include "parley/charter/charter.h"

#include <CLI/CLI.hpp>

#include "command.h"
#include "parley/data/readers/csv_signs.h"
#include "parley/plan/can_run.h"
#include "parley/plan/explain.h"
#include "parley/protocol/make_learner.h"
#include "parley/report/charter.h"
#include "parley/sim/engine/party.h"

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

/// What training would refuse, as far as the charter and public files beside it tell: every owner's
/// terms, and the learner's plan, for which rules may need the pilot.
Result<void> check_trains(charter::Charter charter) {
  if (!charter.complete() || !charter.protocol.protects()) return {};
  if (charter.privacy.calibration == charter::Calibration::kPaper) return {};
  const auto is_there = [&](const std::string& file) {
    std::error_code ignored;
    return std::filesystem::exists(charter.folder / file, ignored);
  };
  const std::filesystem::path folders[] = {charter.folder};
  const bool bundle = !charter.preprocess || is_there(charter.preprocess->bundle);
  if (charter.preprocess && bundle) TRY(charter::load_bundle(charter, folders));
  if (!charter.central() || charter.protocol.learners.owner) return {};  // jobs of their own
  for (size_t i = 0; i < charter.owners.size(); ++i) TRY(plan::can_run(charter, i));
  for (charter::Owner& owner : charter.owners)  // A simulation needs no keys, `owner check` asks.
    if (!owner.sign_key) owner.sign_key = sim::simulated_key(owner.name).public_key();
  if (!bundle || (charter.pilot && !is_there(charter.pilot->file))) return {};
  const auto pilot = TRY(charter::load_pilot(charter, folders, data::kFindSigns));
  // Nothing is dealt: any key will do.
  const auto dealer = protocol::has_dealer(charter) ? std::optional(Secret32{}) : std::nullopt;
  TRY(protocol::make_learner(charter, pilot.get(), protocol::Receipts::kUnsigned, dealer));
  return {};
}

Result<Output> run(const CharterOptions& options, ProgressStyle) {
  const charter::Charter charter =
      TRY(charter::read_charter(options.charter, TRY(overrides(options.set))));
  if (options.show == CharterOptions::Show::kCheck) TRY(check_trains(charter));
  return Output{text_of(charter, options.show), report::to_json(charter)};
}

}  // namespace

void add_charter(Commands root) {
  using Show = CharterOptions::Show;
  const Commands group = root.group("charter", "Look at a charter");
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
