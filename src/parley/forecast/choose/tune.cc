#include "parley/forecast/choose/tune.h"

#include <algorithm>
#include <set>

#include "parley/forecast/choose/choose.h"
#include "parley/forecast/choose/complete.h"

namespace parley::forecast {
namespace {

/// Keys that may be chosen and that the text or the command line gives.
Result<std::set<std::string, std::less<>>> given_keys(const Draft& draft) {
  std::set<std::string, std::less<>> given;
  for (const char* key : {"protocol.rule", "protocol.rounds", "protocol.answers", "protocol.step",
                          "protocol.momentum", "protocol.average", "protocol.start",
                          "protocol.weights", "privacy.max_grad_norm"})
    if (TRY(is_given(draft.text, draft.changes, key))) given.insert(key);
  return given;
}

}  // namespace

namespace {

/// Changes of single owners stand in no section of the text.
std::vector<charter::Override> of_owners(std::span<const charter::Override> changes, bool owners) {
  std::vector<charter::Override> found;
  for (const charter::Override& change : changes)
    if (change.key.starts_with("owner.") == owners) found.push_back(change);
  return found;
}

}  // namespace

Result<Tuned> forecast_draft(const Draft& draft, const std::shared_ptr<const learn::Rows>& pilot,
                             const ForecastOptions& options) {
  const auto changes = of_owners(draft.changes, false), own = of_owners(draft.changes, true);
  Tuned tuned{{}, completed(draft.text, changes, {})};
  if (draft.charter.complete() && !draft.tune) {
    tuned.forecast = TRY(forecast(draft.charter, pilot, options));
    return tuned;
  }
  if (pilot == nullptr)
    return Error{Code::kInvalid,
                 "what the draft leaves open is chosen on public rows, and there is no [pilot]",
                 "Add a [pilot], or give every key.",
                 {.key = "pilot"}};
  const auto written = TRY(given_keys(draft));
  // Start and weights have defaults, which only --tune may replace.
  const Given given = [&](std::string_view key) {
    const bool has_default = key == "protocol.start" || key == "protocol.weights";
    return written.contains(key) || (has_default && !draft.tune);
  };
  const Facts facts = facts_of(draft.charter.model, pilot);
  const Choosing chosen = TRY(choose(draft.charter, facts, given, options.threads));
  tuned.charter = completed(draft.text, changes, chosen.choices);
  // What is forecast is what the text says, not what was meant.
  charter::Charter charter = TRY(
      charter::parse_charter(tuned.charter, "the completed charter", draft.charter.folder, own));
  charter.schema.bundle = draft.charter.schema.bundle;
  tuned.forecast = TRY(forecast(charter, pilot, options));
  tuned.forecast.chosen = chosen.choices;
  tuned.forecast.complete = draft.charter.complete();
  return tuned;
}

}  // namespace parley::forecast
