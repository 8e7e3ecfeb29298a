// parley forecast CHARTER
#include "parley/forecast.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "command.h"
#include "parley/api/internal.h"
#include "parley/base/files.h"
#include "parley/base/math/number.h"
#include "parley/base/progress.h"
#include "parley/forecast/choose/tune.h"
#include "parley/report/forecast/no_pilot.h"

namespace parley::cli {
namespace {

struct ForecastOptions {
  std::filesystem::path charter;
  std::vector<std::string> set;
  std::vector<std::string> epsilon;
  std::filesystem::path data;  // where pilot and bundle lie; empty: beside the charter
  std::optional<double> target;
  bool tune = false;
  std::vector<std::string> protocols;          // of an open draft; empty: all
  std::filesystem::path out;                   // of the completed charter; empty: nowhere
  std::filesystem::path html;                  // of the report; empty: none
  std::vector<std::string> prices;             // OWNER=PRICE, of one unit of epsilon
  double value = 0;                            // of one unit of relative fitness, in the same money
  double differ = 0;                           // tau^2 in units of f*
  std::filesystem::path distance;              // tau as owners paid for it; empty: not
  std::optional<double> worth;                 // the least gain that counts
  bool log_loss = false;                       // of two classes, instead of AUC
  double aggregation_price = 0;                // in relative fitness; federated only
  std::optional<double> delta;                 // that owners would accept
  std::vector<std::filesystem::path> moments;  // from which the pilot was drawn
  int threads = 0;                             // 0: as many as the machine has
  CsvSigns signs;                              // of the pilot
};

/// --price OWNER=PRICE for every owner, and cap=PRICE.
Result<std::optional<MarketTerms>> market(const ForecastOptions& options) {
  if (options.prices.empty()) return std::optional<MarketTerms>();
  MarketTerms terms{.value = options.value};
  for (const std::string& text : options.prices) {
    const Pair pair = TRY(split_pair(text, "--price"));
    const auto price = parse_number(pair.value);
    if (!price) return Error{Code::kInvalid, "--price " + text + ": not a number"};
    if (pair.key == "cap")
      terms.cap = *price;
    else
      terms.prices.emplace_back(pair.key, *price);
  }
  return std::optional(terms);
}

/// A change of one owner has no place in the charter's text if owners stand in a table of their
/// own.
Result<void> no_table_of_owners(const ForecastOptions& options,
                                const std::vector<Override>& changes) {
  const bool table = TRY(read_file(options.charter)).find("[owners]") != std::string::npos;
  for (const Override& change : changes)
    if (table && change.key.starts_with("owner."))
      return Error{Code::kInvalid, "a change of " + change.key + " cannot be written into --out",
                   "Change the owner in the table that the charter names."};
  return {};
}

/// --epsilon as changes of the charter's owners.
Result<void> add_epsilons(const ForecastOptions& options, std::vector<Override>& changes) {
  const PerOwner given = TRY(per_owner(options.epsilon, "--epsilon"));
  if (options.epsilon.empty()) return {};
  const auto owners = TRY(Charter::read(options.charter, changes)).owners();
  const auto set = [&](size_t i, double epsilon) {
    changes.push_back({"owner." + std::to_string(i) + ".epsilon", shortest(epsilon)});
  };
  for (size_t i = 0; given.all && i < owners.size(); ++i) set(i, *given.all);
  for (const auto& [name, epsilon] : given.owners) {
    const auto at = std::find_if(owners.begin(), owners.end(),
                                 [&](const CharterOwner& owner) { return owner.name == name; });
    if (at == owners.end())
      return Error{Code::kInvalid, "--epsilon " + name + ": the charter has no such owner"};
    set(static_cast<size_t>(at - owners.begin()), epsilon);
  }
  return {};
}

/// Beside the charter: rates.charter.toml names rates.bundle.json.
std::filesystem::path bundle_beside(const std::filesystem::path& out) {
  std::string name = out.filename().string();
  for (const char* end : {".toml", ".charter"})
    if (name.ends_with(end)) name.resize(name.size() - std::string_view(end).size());
  return out.parent_path() / (name + ".bundle.json");
}

Result<void> write_charter(const ForecastOptions& options, const Forecast& forecast) {
  if (options.out.empty()) return {};
  TRY(write_file(options.out, forecast.charter_text()));
  if (!forecast.bundle_text().empty())
    TRY(write_file(bundle_beside(options.out), forecast.bundle_text()));
  return {};
}

/// Of rule "gram" without a pilot: the noise, and for a draft what follows from it.
Result<Output> say_without_pilot(const ForecastOptions& options, const Charter& charter) {
  const auto& [agreed, text, changes] = charter.internal();
  const report::NoPilot said = TRY(report::without_pilot(agreed));
  if (!options.out.empty())
    TRY(write_file(options.out, forecast::completed(text, changes, said.chosen)));
  return Output{report::to_text(said), report::to_json(said)};
}

Result<Output> run(const ForecastOptions& options, ProgressStyle style) {
  auto changes = TRY(overrides(options.set));
  TRY(add_epsilons(options, changes));
  if (!options.out.empty()) TRY(no_table_of_owners(options, changes));
  const Charter charter = TRY(Charter::read(options.charter, changes));
  const charter::Charter& agreed = charter.internal().charter;
  if (agreed.protocol.rule() == charter::Rule::kGram)  // Also with a pilot: it is not forecast.
    return say_without_pilot(options, charter);
  const auto terms = TRY(market(options));
  std::optional<Progress> progress;
  uint64_t shown = 0;
  const auto advance = [&](uint64_t done, uint64_t total) {
    if (!progress) progress.emplace(style, "comparing", total);
    progress->advance(done - std::exchange(shown, done));
  };
  const std::string bundle =
      options.out.empty() ? "bundle.json" : bundle_beside(options.out).filename().string();
  const Forecast forecast =
      TRY(make_forecast(charter, {.folder = options.data,
                                  .signs = options.signs,
                                  .tune = options.tune,
                                  .target = options.target,
                                  .delta = options.delta,
                                  .market = terms,
                                  .differ = options.differ,
                                  .distance = options.distance,
                                  .worth = options.worth,
                                  .log_loss = options.log_loss,
                                  .aggregation_price = options.aggregation_price,
                                  .moments = options.moments,
                                  .protocols = options.protocols,
                                  .bundle = bundle,
                                  .progress = advance,
                                  .html = options.html,
                                  .threads = options.threads}));
  if (progress) progress->finish();
  TRY(write_charter(options, forecast));
  return Output{forecast.to_text(), forecast.to_json()};
}

}  // namespace

void add_forecast(Commands root) {
  const auto [app, options] = root.add<ForecastOptions>(
      "forecast", "Forecast what a job would be worth, from its charter and public rows", run);
  charter_argument(app, options.charter);
  app.add_option("--data", options.data, "Folder of pilot and bundle (default: the charter's)")
      ->type_name("DIR");
  app.add_option(
         "--target", options.target,
         "Relative fitness to reach: prints the epsilon, and the number of rows, that reach it")
      ->check(CLI::PositiveNumber);
  app.add_flag("--tune", options.tune, "Choose on the public rows what the charter leaves open");
  app.add_option("--protocols", options.protocols,
                 "For a draft without protocol.name: choose among these only")
      ->delimiter(',')
      ->check(CLI::IsMember({"sync", "sums", "federated", "async"}));
  app.add_option("--out", options.out, "Write the completed charter, and a chosen bundle beside it")
      ->type_name("FILE");
  app.add_option("--html", options.html, "Write an HTML report")->type_name("FILE");
  repeated(app.add_option("--price", options.prices,
                          "Every owner's price of one unit of epsilon, and cap=PRICE, the highest "
                          "allowed; with --value: how much to buy of whom"),
           "OWNER=PRICE");
  app.add_option("--value", options.value,
                 "Worth of one unit of relative fitness, in the same money")
      ->check(CLI::PositiveNumber);
  app.add_option("--differ", options.differ,
                 "How much owners differ: relative fitness on all rows of the best model of one "
                 "owner with unlimited rows")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--distance", options.distance,
                 "How much owners differ, as paid for: model.json of a job with rule \"distance\" "
                 "on the same public rows")
      ->type_name("FILE");
  app.add_option("--worth", options.worth,
                 "Smallest gain that counts: relative decrease of RMSE or log loss (default "
                 "0.005), or difference of AUC (default 0.002)")
      ->check(CLI::PositiveNumber);
  metric_option(app, options.log_loss);
  app.add_option("--aggregation-price", options.aggregation_price,
                 "Federated: cost of one aggregation as relative fitness; local steps minimise "
                 "loss plus cost")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--delta", options.delta,
                 "With --tune: delta that owners accept, for Gaussian noise if it is better")
      ->check(CLI::Range(1e-30, 1e-3));
  app.add_option(
         "--moments", options.moments,
         "Paid moments that the pilot was drawn from; their noise then counts in the interval")
      ->type_name("FILE");
  epsilon_option(app, options.epsilon);
  threads_option(app, options.threads);
  signs_options(app, options.signs);
  set_option(app, options.set);
}

}  // namespace parley::cli
