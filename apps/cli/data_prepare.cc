// parley data prepare CHARTER --pilot FILE | --paid EPSILON --policy FILE | --moments FILE...
#include "commands.h"
#include "overrides.h"
#include "parley/base/files.h"
#include "parley/data/sources/source.h"
#include "parley/net/paid_moments.h"
#include "parley/report/data/prepare.h"

namespace parley::cli {
namespace {

data::FitOptions fit_options(const DataPrepareOptions& options) {
  using SelectBy = data::Bundle::SelectBy;
  data::FitOptions fit{
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

/// Without --out.
std::filesystem::path or_else(const std::filesystem::path& out, const std::string& name) {
  return out.empty() ? std::filesystem::path(name) : out;
}

Result<Output> from_pilot(const DataPrepareOptions& options, const charter::Charter& charter) {
  const Hash pilot = TRY(hash_file(options.pilot));
  if (charter.pilot && charter.pilot->sha256 != pilot)
    return Error{Code::kIntegrity,
                 "is not the charter's pilot: its SHA-256 is " + to_hex(pilot),
                 "Prepare with the file that the charter names.",
                 {.file = options.pilot.string(), .key = "pilot.sha256"}};
  const auto loaded = TRY(
      data::load(data::source_of(options.pilot, options.signs), data::encoding_of(charter.schema)));
  const data::Bundle bundle =
      TRY(data::fit_bundle(loaded.rows, charter.schema, pilot, fit_options(options)));
  const auto out = or_else(options.out, "bundle.json");
  const report::Prepared prepared{named_by_charter(options.charter, out), bundle};
  TRY(write_file(out, to_json(prepared.bundle)));
  return Output{report::to_text(prepared), report::to_json(prepared)};
}

Result<Output> pay(const DataPrepareOptions& options, const charter::Charter& charter) {
  const charter::Policy policy = TRY(charter::read_policy(options.policy));
  SystemEntropy entropy;
  SystemClock clock;
  const net::MomentsOrder order{{TRY(privacy::Epsilon::make(*options.paid)), options.row_norm},
                                options.dataset};
  const auto moments = TRY(net::release_moments(policy, charter, order, entropy, clock));
  const auto out = or_else(options.out, policy.owner + ".moments.json");
  TRY(write_file(out, to_json(moments)));
  return Output{report::to_text(moments, out.string()), to_json(moments)};
}

Result<Output> draw(const DataPrepareOptions& options, const charter::Charter& charter) {
  std::vector<data::PaidMoments> moments;
  for (const auto& file : options.moments) {
    moments.push_back(TRY(data::moments_from_json(TRY(read_file(file)), file.string())));
    TRY(net::check_moments(charter, moments.back(), file.string()));
  }
  const std::string rows = TRY(data::drawn_pilot(moments, charter.schema, options.rows));
  const auto out = or_else(options.out, "pilot.csv");
  TRY(write_file(out, rows));
  const report::DrawnPilot drawn{named_by_charter(options.charter, out), sha256(as_bytes(rows)),
                                 options.rows, std::move(moments)};
  return Output{report::to_text(drawn), report::to_json(drawn)};
}

}  // namespace

Result<Output> run(const DataPrepareOptions& options, ProgressStyle) {
  const charter::Charter charter =
      TRY(charter::read_charter(options.charter, TRY(overrides(options.set))));
  if (options.paid) return pay(options, charter);
  return options.moments.empty() ? from_pilot(options, charter) : draw(options, charter);
}

}  // namespace parley::cli
