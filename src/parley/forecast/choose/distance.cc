#include "parley/forecast/choose/distance.h"

#include <array>
#include <cstdio>

#include "parley/forecast/choose/complete.h"
#include "parley/forecast/cost.h"
#include "parley/forecast/value/paid_distance.h"

namespace parley::forecast {
namespace {

constexpr const char* kClip = "privacy.max_grad_norm";

/// To three digits, so that the text says all of it.
Choice clip_choice(const Draft& draft, const std::shared_ptr<const data::Rows>& pilot,
                   int threads) {
  const double clip = distance_clip(draft.charter, pilot, threads);
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.3g", clip);
  return {kClip, digits,
          "95 % of the public rows' gradients are shorter, in the metric of their Hessian"};
}

}  // namespace

Result<Tuned> forecast_distance_draft(const Draft& draft,
                                      const std::shared_ptr<const data::Rows>& pilot,
                                      const ForecastOptions& options) {
  if (pilot == nullptr)
    return Error{Code::kInvalid,
                 "the public rows of the charter are needed, and there are none",
                 "Put the pilot beside the charter, or name its folder with --data.",
                 {.key = "pilot"}};
  charter::Charter charter = draft.charter;
  Tuned tuned{{}, completed(draft.text, draft.changes, {})};
  const bool complete = charter.complete();
  if (!complete) {
    tuned.forecast.advice.chosen.push_back(clip_choice(draft, pilot, options.threads));
    tuned.charter = completed(draft.text, draft.changes, tuned.forecast.advice.chosen);
    charter = TRY(charter::parse_charter(tuned.charter, "the completed charter",
                                         draft.charter.folder, of_owners(draft.changes)));
    charter.schema.bundle = draft.charter.schema.bundle;
  }
  Forecast& forecast = tuned.forecast;
  forecast.job = {.charter = charter.name,
                  .charter_hash = to_hex(charter.hash),
                  .target_column = charter.schema.target.column,
                  .complete = complete};
  forecast.basis.pilot_rows = pilot->size();
  forecast.cost = cost_of(charter);
  forecast.distance =
      TRY(forecast_distance(charter, pilot, std::array{0., .01, .03, .1, .3}, options.threads));
  return tuned;
}

}  // namespace parley::forecast
