// parley forecast CHARTER
#include "parley/forecast/forecast.h"

#include <thread>

#include "commands.h"
#include "overrides.h"
#include "parley/base/files.h"
#include "parley/base/number.h"
#include "parley/forecast/choose/tune.h"

namespace parley::cli {
namespace {

int threads_or_all(int threads) {
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// --price OWNER=PRICE for every owner, and cap=PRICE.
Result<std::optional<forecast::MarketTerms>> market(const ForecastOptions& options) {
  if (options.prices.empty()) return std::optional<forecast::MarketTerms>();
  forecast::MarketTerms terms{.value = options.value};
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

/// A change of one owner of many has no place in the charter's text.
Result<void> no_single_owners(const std::vector<charter::Override>& changes) {
  for (const charter::Override& change : changes)
    if (change.key.starts_with("owner."))
      return Error{Code::kInvalid, "--set " + change.key + " cannot be written into --out",
                   "Change the owner in the charter's file."};
  return {};
}

}  // namespace

Result<Output> run(const ForecastOptions& options, ProgressStyle) {
  const auto changes = TRY(overrides(options.set));
  charter::Charter charter = TRY(charter::read_charter(options.charter, changes));
  const std::vector<std::filesystem::path> folders = {
      options.data.empty() ? charter.folder : options.data, charter.folder};
  TRY(charter::load_bundle(charter, folders));
  const auto pilot = TRY(charter::load_pilot(charter, folders, options.signs));
  const auto terms = TRY(market(options));
  const forecast::ForecastOptions how{
      .target = options.target, .market = terms, .threads = threads_or_all(options.threads)};
  const std::string text = TRY(read_file(options.charter));
  auto tuned = TRY(forecast::forecast_draft({charter, text, changes, options.tune}, pilot, how));
  if (!options.out.empty()) TRY(no_single_owners(changes));
  if (!options.out.empty()) TRY(write_file(options.out, tuned.charter));
  if (!options.html.empty()) {
    TRY(write_file(options.html, forecast::to_html(tuned.forecast)));
    tuned.forecast.report = options.html.string();
  }
  return Output{forecast::to_text(tuned.forecast), forecast::to_json(tuned.forecast)};
}

}  // namespace parley::cli
