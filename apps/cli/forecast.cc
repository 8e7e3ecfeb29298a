// parley forecast CHARTER
#include "parley/forecast.h"

#include "commands.h"
#include "overrides.h"
#include "parley/base/files.h"
#include "parley/base/math/number.h"

namespace parley::cli {
namespace {

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
  if (!options.out.empty()) TRY(no_single_owners(changes));
  const Charter charter = TRY(Charter::read(options.charter, changes));
  const auto terms = TRY(market(options));
  const Forecast forecast =
      TRY(make_forecast(charter, {.folder = options.data,
                                  .signs = options.signs,
                                  .tune = options.tune,
                                  .target = options.target,
                                  .delta = options.delta,
                                  .market = terms,
                                  .differ = options.differ,
                                  .aggregation_price = options.aggregation_price,
                                  .moments = options.moments,
                                  .html = options.html,
                                  .threads = options.threads}));
  if (!options.out.empty()) TRY(write_file(options.out, forecast.charter_text()));
  return Output{forecast.to_text(), forecast.to_json()};
}

}  // namespace parley::cli
