#include "parley/forecast/choose/tune.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "parley/base/math/number.h"
#include "parley/forecast/choose/choose.h"
#include "parley/forecast/choose/complete.h"
#include "parley/forecast/choose/distance.h"
#include "parley/forecast/choose/federated.h"
#include "parley/forecast/choose/open/open.h"
#include "parley/forecast/trained_rows.h"

namespace parley::forecast {
namespace {

/// Keys that may be chosen and that the text or the command line gives.
Result<std::set<std::string, std::less<>>> given_keys(const Draft& draft) {
  std::set<std::string, std::less<>> given;
  for (const char* key :
       {"protocol.rule", "protocol.rounds", "protocol.local_steps", "protocol.answers",
        "protocol.step", "protocol.momentum", "protocol.average", "protocol.start",
        "protocol.weights", "privacy.mechanism", "privacy.max_grad_norm", "model.l2"})
    if (TRY(is_given(draft.text, draft.changes, key))) given.insert(key);
  return given;
}

/// The same draft under Gaussian noise: delta as given, or the specification's default for the
/// rows.
charter::Charter under_gaussian(charter::Charter draft, const std::optional<double>& delta) {
  draft.privacy.mechanism = charter::MechanismName::kGaussian;
  for (charter::Owner& owner : draft.owners)
    owner.delta = delta.value_or(std::min(1e-6, std::pow(static_cast<double>(owner.rows), -1.5)));
  return draft;
}

/// Laplace noise promises more; Gaussian noise is taken only where owners accept a delta and it
/// brings more than a twentieth.
Result<Choosing> choose_mechanism(const Draft& draft, const PilotStatistics& statistics,
                                  const Given& given, const ForecastOptions& options) {
  Choosing laplace = TRY(choose(draft.charter, statistics, given, options.threads));
  const bool sync = draft.charter.protocol.as<charter::Sync>() != nullptr;
  if (given("privacy.mechanism") || !sync) return laplace;
  const auto other = under_gaussian(draft.charter, options.delta);
  const auto psi = reachable(other, statistics, given, options.threads);
  const bool better = psi && *psi < .95 * laplace.best.psi;
  if (better && options.delta) {
    Choosing gaussian = TRY(choose(other, statistics, given, options.threads));
    gaussian.choices.push_back(
        {"privacy.mechanism", "gaussian",
         "owners accept a delta; laplace would reach " + significant(laplace.best.psi, 2)});
    gaussian.choices.push_back({"privacy.delta", shortest(*options.delta), "as accepted"});
    return gaussian;
  }
  std::string why = "pure epsilon, no delta";
  if (psi)
    why += "; gaussian would reach " + significant(*psi, 2) +
           (better ? ", if owners accepted a delta (--delta)" : ", little better if at all");
  laplace.choices.push_back({"privacy.mechanism", "laplace", why});
  return laplace;
}

bool open_protocol(const charter::Charter& draft) {
  const auto& open = draft.undecided;
  return std::find(open.begin(), open.end(), "protocol.name") != open.end();
}

/// Everything: features, l2, mechanism and protocol as well.
Result<Tuned> forecast_open(const Draft& draft, const std::shared_ptr<const data::Rows>& pilot,
                            const Given& given, const ForecastOptions& options) {
  const OpenChoice chosen = TRY(choose_open(draft, pilot, given, options));
  Tuned tuned{{}, completed(draft.text, draft.changes, chosen.choices), chosen.bundle};
  charter::Charter charter = TRY(charter::parse_charter(
      tuned.charter, "the completed charter", draft.charter.folder, of_owners(draft.changes)));
  charter.schema.bundle = chosen.bundle ? chosen.bundle : draft.charter.schema.bundle;
  tuned.forecast = TRY(forecast(charter, chosen.rows, options));
  auto& advice = tuned.forecast.advice;
  advice.chosen = chosen.choices;
  advice.ranking = chosen.ranking;
  advice.warnings.insert(advice.warnings.end(), chosen.warnings.begin(), chosen.warnings.end());
  tuned.forecast.job.complete = false;
  return tuned;
}

}  // namespace

Result<Tuned> forecast_draft(const Draft& draft, const std::shared_ptr<const data::Rows>& pilot,
                             const ForecastOptions& options) {
  if (draft.charter.protocol.distance()) return forecast_distance_draft(draft, pilot, options);
  const auto own = of_owners(draft.changes);
  Tuned tuned{{}, completed(draft.text, draft.changes, {})};
  const bool shared = draft.charter.columns_apart();
  const bool fixed = shared || draft.charter.protocol.statistics();
  if (shared && !draft.charter.complete())
    return Error{Code::kInvalid,
                 "a draft of protocol \"sharing\" is not completed: " +
                     draft.charter.undecided.front() + " is not decided",
                 "Give it; the specification's own are rounds = 20, step = 3.0, momentum = 0.8.",
                 {.key = draft.charter.undecided.front()}};
  if (draft.charter.complete() && (!draft.tune || fixed)) {
    tuned.forecast = TRY(forecast(draft.charter, pilot, options));
    return tuned;
  }
  if (pilot == nullptr)
    return Error{Code::kInvalid,
                 "what the draft leaves open is chosen on public rows, and there is no [pilot]",
                 "Add a [pilot], or give every key.",
                 {.key = "pilot"}};
  const auto written = TRY(given_keys(draft));
  // Start, weights and mechanism have defaults, which only --tune may replace.
  const Given given = [&](std::string_view key) {
    const bool has_default =
        key == "protocol.start" || key == "protocol.weights" || key == "privacy.mechanism";
    return written.contains(key) || (has_default && !draft.tune);
  };
  if (open_protocol(draft.charter)) {
    const Given all = [&](std::string_view key) { return written.contains(key); };
    return forecast_open(draft, pilot, all, options);
  }
  const PilotStatistics statistics =
      statistics_of(draft.charter.model, as_trained(draft.charter, pilot), options.threads);
  const bool federated = draft.charter.protocol.as<charter::Federated>() != nullptr;
  const Choosing chosen =
      TRY(federated ? choose_federated(draft.charter, statistics, *pilot, given, options)
                    : choose_mechanism(draft, statistics, given, options));
  tuned.charter = completed(draft.text, draft.changes, chosen.choices);
  // What is forecast is what the text says, not what was meant.
  charter::Charter charter = TRY(
      charter::parse_charter(tuned.charter, "the completed charter", draft.charter.folder, own));
  charter.schema.bundle = draft.charter.schema.bundle;
  tuned.forecast = TRY(forecast(charter, pilot, options));
  tuned.forecast.advice.chosen = chosen.choices;
  tuned.forecast.job.complete = draft.charter.complete();
  return tuned;
}

}  // namespace parley::forecast
