#include "parley/api/fit/fit.h"

#include <algorithm>
#include <utility>

#include "parley/api/fit/private_job.h"
#include "parley/api/fit/seeded_job.h"
#include "parley/api/internal.h"
#include "parley/api/temporary_folder.h"
#include "parley/base/bytes.h"
#include "parley/base/entropy.h"
#include "parley/base/files.h"
#include "parley/data/sources/source.h"
#include "parley/ledger/read.h"

namespace parley::api {
namespace {

/// Two fits are two jobs, also if they ask for the same: a ledger would replay the answers of the
/// first, which are about other rows.
std::string new_name() {
  SystemEntropy entropy;
  Bytes bytes(8);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(entropy.word());
  return "fit-" + to_hex(bytes);
}

/// In units of the given features and target.
void unscale(Fitted& fitted) {
  const learn::Model& model = fitted.model;
  const data::Target& target = model.schema.target;
  const data::Bundle& bundle = *model.schema.bundle;
  const bool number = target.levels.empty();
  const double unit = number ? target.scale : 1;
  fitted.intercept = number ? target.center : 0;
  if (model.schema.bias) fitted.intercept += unit * model.theta.back();
  for (size_t j = 0; j < bundle.select.size(); ++j) {
    const double slope = unit * model.theta[j] / bundle.scale[j];
    fitted.coefficients.push_back(slope);
    fitted.intercept -= slope * bundle.mean[j];
  }
}

Result<void> check_ledger(const FitInput& input) {
  if (!input.seed || input.ledger.empty()) return {};
  return Error{Code::kInvalid,
               "a seeded fit is not private, so that no ledger can vouch for it",
               "Leave out the seed, or the ledger.",
               {.key = "seed"}};
}

/// Whose the ledger is; who it will be of a new one.
Result<std::string> owner_of(const FitInput& input) {
  if (input.ledger.empty()) return input.settings.owner;
  return TRY(ledger::read(input.ledger)).owner;
}

Result<learn::Model> train(const FitInput& input, charter::Charter charter,
                           const TemporaryFolder& folder) {
  const std::filesystem::path folders[] = {folder.path()};
  TRY(charter::load_bundle(charter, folders));
  auto pilot = TRY(charter::load_pilot(charter, folders));
  data::Source source = data::source_of(input.records);
  source.select.rows = input.records->rows();
  auto rows = TRY(data::load_any(source, charter.schema)).rows;
  const int threads = threads_or_all(input.threads);
  if (input.seed)
    return run_seeded_job(
        {std::move(charter), std::move(rows), std::move(pilot), *input.seed, threads, input.go_on});
  PrivateJob job{.charter = std::move(charter),
                 .rows = std::move(rows),
                 .pilot = std::move(pilot),
                 .ledger = input.ledger,
                 .dataset = input.dataset,
                 .threads = threads,
                 .go_on = input.go_on};
  if (input.ledger.empty()) {  // Nobody asked for a lifetime's account: this fit has its own.
    job.ledger = folder.path() / "ledger.db";
    const FitSettings& fit = input.settings;
    TRY(declare_dataset(job.ledger,
                        {.owner = fit.owner,
                         .dataset = input.dataset,
                         .epsilon = fit.epsilon,
                         .delta = fit.delta,
                         .pure = privacy::Budget::pure_unless_said(fit.epsilon, fit.delta)}));
  }
  return run_private_job(job);
}

}  // namespace

Result<Fitted> fit(const FitInput& given) {
  TRY(check_ledger(given));
  FitInput input = given;
  input.settings.rows = input.records->rows();
  input.settings.job = input.seed ? "fit" : new_name();
  input.settings.owner = TRY(owner_of(input));
  const TemporaryFolder folder = TRY(TemporaryFolder::make());
  Fitted fitted;
  if (input.pilot) {
    fitted.pilot = data::to_csv(*input.pilot);
    TRY(write_file(folder.path() / "pilot.csv", fitted.pilot));
  }
  fitted.files = TRY(fit_files(input.settings, fitted.pilot, folder.path()));
  charter::Charter charter =
      TRY(charter::parse_charter(fitted.files.charter, "charter", folder.path(), {}));
  fitted.model = TRY(train(input, std::move(charter), folder));
  unscale(fitted);
  return fitted;
}

}  // namespace parley::api
