#include "parley/forecast.h"

#include <algorithm>
#include <span>
#include <utility>

#include "parley/api/internal.h"
#include "parley/api/temporary_folder.h"
#include "parley/base/files.h"
#include "parley/data/transforms/paid_moments.h"
#include "parley/forecast/choose/open.h"
#include "parley/forecast/choose/tune.h"
#include "parley/forecast/forecast.h"
#include "parley/forecast/owners/tau.h"
#include "parley/forecast/pilot/statistics.h"
#include "parley/forecast/uncertainty.h"
#include "parley/report/forecast/forecast.h"
#include "parley/sim/load.h"

namespace parley {

namespace {

using Moments = std::vector<data::PaidMoments>;

Result<Moments> moments_of(const ForecastOptions& options) {
  Moments moments;
  for (const auto& file : options.moments)
    moments.push_back(TRY(data::moments_from_json(TRY(read_file(file)), file.string())));
  return moments;
}

/// As many rows as the charter's pilot has, drawn from other moments.
Result<std::shared_ptr<const data::Rows>> drawn(std::span<const data::PaidMoments> moments,
                                                charter::Charter charter) {
  const api::TemporaryFolder folder = TRY(api::TemporaryFolder::make());
  charter.pilot->file = "drawn.csv";
  const std::string text =
      TRY(data::drawn_pilot(moments, charter.schema, static_cast<uint64_t>(charter.pilot->rows)));
  TRY(write_file(folder.path() / charter.pilot->file, text));
  charter.pilot->sha256 = TRY(hash_file(folder.path() / charter.pilot->file));
  const std::filesystem::path folders[] = {folder.path()};
  return TRY(charter::load_pilot(charter, folders));
}

/// Pilots as they would have been drawn if the moments' noise had fallen another way.
Result<forecast::ManyRows> redrawn(const Moments& moments, const charter::Charter& charter) {
  constexpr uint64_t kTimes = 6;
  forecast::ManyRows found;
  if (moments.empty() || !charter.pilot) return found;
  for (uint64_t k = 0; k < kTimes; ++k)
    found.push_back(TRY(drawn(data::with_more_noise(moments, k), charter)));
  return found;
}

/// Rows of each owner's own moments, where all owners gave some; only asynchronous learners ask one
/// owner at a time, so that the curvature of each matters.
Result<forecast::ManyRows> of_each_owner(const Moments& moments, const charter::Charter& charter) {
  forecast::ManyRows found;
  if (!charter.protocol.one_at_a_time() || !charter.pilot) return found;
  for (const charter::Owner& owner : charter.owners) {
    const auto own = std::find_if(moments.begin(), moments.end(),
                                  [&](const auto& each) { return each.owner == owner.name; });
    if (own == moments.end()) return forecast::ManyRows();
    found.push_back(TRY(drawn({&*own, 1}, charter)));
  }
  return found;
}

using charter::PublicRows;

std::vector<std::filesystem::path> folders_of(const charter::Charter& charter,
                                              const ForecastOptions& options) {
  return {options.folder.empty() ? charter.folder : options.folder, charter.folder};
}

/// The pilot, and in the charter the bundle that makes its features.
Result<PublicRows> public_rows(charter::Charter& charter, const ForecastOptions& options) {
  if (options.generated) {
    auto input = TRY(sim::load_standin(charter, options.generated->name, options.generated->seed));
    charter = std::move(input.charter);
    return PublicRows{std::move(input.pilot)};
  }
  const auto folders = folders_of(charter, options);
  TRY(charter::load_bundle(charter, folders));
  return charter::load_public_rows(charter, folders, options.signs);
}

/// Of a charter whose features are leaves: the public rows in halves, each with leaves of trees
/// that have not seen it.
Result<forecast::ManyRows> unseen_rows(charter::Charter charter, const ForecastOptions& options) {
  const auto& bundle = charter.schema.bundle;
  if (!bundle || !bundle->trees || options.generated || !charter.pilot) return forecast::ManyRows();
  charter.preprocess.reset();
  charter.schema.bundle.reset();
  const auto rows = TRY(charter::load_pilot(charter, folders_of(charter, options), options.signs));
  return forecast::unseen_leaves(charter, rows);
}

Error not_comparable(const std::filesystem::path& file, const std::string& what) {
  return {Code::kInvalid,
          what,
          "Buy the distance with the pilot, target and loss of this charter.",
          {.file = file.string()}};
}

/// From the file of a job of rule "distance". It may have had other features and another l2: the
/// public rows are read as it read them.
Result<forecast::Tau> bought_tau(const charter::Charter& charter, const PublicRows& pilot,
                                 const ForecastOptions& options) {
  const learn::Model file = TRY(learn::read_model(options.distance));
  if (file.distance && (!charter.pilot || file.distance->pilot != to_hex(charter.pilot->sha256)))
    return not_comparable(options.distance, "was measured from other public rows");
  if (file.schema.target != charter.schema.target ||
      file.loss.index() != charter::loss_of(charter.model).index())
    return not_comparable(options.distance, "is about another target or loss");
  charter::Charter as_measured = charter;
  as_measured.schema = file.schema;
  const auto rows =
      options.generated
          ? pilot.rows
          : TRY(charter::load_pilot(as_measured, folders_of(charter, options), options.signs));
  auto tau = forecast::paid_tau(file, rows, api::threads_or_all(options.threads));
  if (tau) return tau;
  Error error = tau.error();
  error.where.file = options.distance.string();
  return error;
}

/// Who says how much owners differ, if it is not a person.
Result<std::optional<forecast::Tau>> known_tau(const charter::Charter& charter,
                                               const PublicRows& pilot,
                                               const ForecastOptions& options) {
  using Known = std::optional<forecast::Tau>;
  if (!options.distance.empty() && options.differ > 0)
    return Error{Code::kInvalid, "how far owners differ is given twice",
                 "Give either --differ or --distance."};
  if (!options.distance.empty()) return Known(TRY(bought_tau(charter, pilot, options)));
  if (options.differ > 0 || pilot.sites.empty() || charter.columns_apart()) return Known();
  const auto statistics = forecast::statistics_of(
      charter, forecast::as_trained(charter, pilot.rows), api::threads_or_all(options.threads));
  auto tau = forecast::tau_from_sites(
      statistics, forecast::pilot_distances(statistics, forecast::pilot_scores(statistics)),
      pilot.sites);
  if (tau) return Known(*std::move(tau));
  Error error = tau.error();
  error.where.key = "pilot.group";
  return error;
}

}  // namespace

Result<Forecast> make_forecast(const Charter& handle, const ForecastOptions& options) {
  charter::Charter charter = handle.internal().charter;
  const PublicRows pilot = TRY(public_rows(charter, options));
  if (charter.protocol.distance() && !options.html.empty())
    return Error{Code::kInvalid, "there is no page of a charter with rule \"distance\"",
                 "Leave out --html."};
  const Moments moments = TRY(moments_of(options));
  auto others = TRY(redrawn(moments, charter));
  auto owners = TRY(of_each_owner(moments, charter));
  const forecast::ForecastOptions how{.target = options.target,
                                      .market = options.market,
                                      .differ = options.differ,
                                      .tau = TRY(known_tau(charter, pilot, options)),
                                      .sites = pilot.sites,
                                      .worth = options.worth,
                                      .log_loss = options.log_loss,
                                      .delta = options.delta,
                                      .compare = !options.html.empty(),
                                      .aggregation_price = options.aggregation_price,
                                      .redrawn = std::move(others),
                                      .owners = std::move(owners),
                                      .unseen = TRY(unseen_rows(charter, options)),
                                      .protocols = options.protocols,
                                      .bundle = options.bundle,
                                      .progress = options.progress,
                                      .threads = api::threads_or_all(options.threads)};
  const auto& [agreed, text, changes] = handle.internal();
  auto tuned =
      TRY(forecast::forecast_draft({charter, text, changes, options.tune}, pilot.rows, how));
  if (!options.html.empty()) {
    TRY(write_file(options.html, report::to_html(tuned.forecast)));
    tuned.forecast.report = options.html.string();
  }
  return Forecast(std::make_shared<const Forecast::Internal>(
      Forecast::Internal{std::move(tuned.forecast), std::move(tuned.charter),
                         tuned.bundle ? data::to_json(*tuned.bundle) : ""}));
}

Forecast::Forecast(std::shared_ptr<const Internal> internal) : internal_(std::move(internal)) {}

const RelativeFitness& Forecast::relative_fitness() const {
  return internal().forecast.joint.relative_fitness;
}
const MetricForecast& Forecast::metric() const { return internal().forecast.joint.metric; }
const std::vector<OwnerForecast>& Forecast::owners() const { return internal().forecast.owners; }
const EpsilonForecast& Forecast::epsilons() const { return internal().forecast.epsilons; }
const CostForecast& Forecast::cost() const { return internal().forecast.cost; }
const std::vector<Choice>& Forecast::chosen() const { return internal().forecast.advice.chosen; }
const std::vector<Warning>& Forecast::warnings() const {
  return internal().forecast.advice.warnings;
}
const std::string& Forecast::charter_text() const { return internal().charter; }
const std::string& Forecast::bundle_text() const { return internal().bundle; }
std::string Forecast::to_text() const { return report::to_text(internal().forecast); }
std::string Forecast::to_json() const { return report::to_json(internal().forecast); }
std::string Forecast::to_html() const { return report::to_html(internal().forecast); }

}  // namespace parley
