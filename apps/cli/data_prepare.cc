// parley data prepare CHARTER --pilot FILE
#include "commands.h"
#include "overrides.h"
#include "parley/base/files.h"
#include "parley/learn/data/csv.h"
#include "parley/report/prepare.h"

namespace parley::cli {
namespace {

learn::FitOptions fit_options(const DataPrepareOptions& options) {
  using SelectBy = learn::Bundle::SelectBy;
  learn::FitOptions fit{
      .top = options.top,
      .by = options.top_by == "variance" ? SelectBy::kVariance : SelectBy::kCorrelation,
      .components = options.components,
      .whiten = options.whiten};
  if (options.fourier > 0)
    fit.fourier = {.features = options.fourier, .seed = options.seed, .scale = options.scale};
  return fit;
}

/// Relative to the charter if it lies at or below its folder, where the charter may name it.
std::string named_by_charter(const std::filesystem::path& charter,
                             const std::filesystem::path& bundle) {
  const auto relative = std::filesystem::absolute(bundle).lexically_normal().lexically_relative(
      std::filesystem::absolute(charter).lexically_normal().parent_path());
  const bool below = !relative.empty() && *relative.begin() != "..";
  return below ? relative.string() : bundle.filename().string();
}

}  // namespace

Result<Output> run(const DataPrepareOptions& options, ProgressStyle) {
  const charter::Charter charter =
      TRY(charter::read_charter(options.charter, TRY(overrides(options.set))));
  const Hash pilot = TRY(hash_file(options.pilot));
  if (charter.pilot && charter.pilot->sha256 != pilot)
    return Error{Code::kIntegrity,
                 "is not the charter's pilot: its SHA-256 is " + to_hex(pilot),
                 "Prepare with the file that the charter names.",
                 {.file = options.pilot.string(), .key = "pilot.sha256"}};
  const learn::Rows rows = TRY(
      learn::read_csv(options.pilot, learn::encoding_of(charter.schema),
                      {.separator = options.signs.separator, .decimal = options.signs.decimal}));
  const learn::Bundle bundle =
      TRY(learn::fit_bundle(rows, charter.schema, pilot, fit_options(options)));
  const report::Prepared prepared{named_by_charter(options.charter, options.out), bundle};
  TRY(write_file(options.out, to_json(prepared.bundle)));
  return Output{report::to_text(prepared), report::to_json(prepared)};
}

}  // namespace parley::cli
