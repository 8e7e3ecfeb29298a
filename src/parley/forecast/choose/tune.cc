#include "parley/forecast/choose/tune.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>
#include <vector>

#include "parley/base/math/number.h"
#include "parley/forecast/choose/choose.h"
#include "parley/forecast/choose/open.h"
#include "parley/forecast/owners/tau.h"
#include "parley/forecast/pilot/statistics.h"
#include "parley/forecast/study.h"

namespace parley::forecast {
namespace {

struct Key {
  std::string section, name;
};

Key split(std::string_view key) {
  const size_t dot = key.starts_with("owner.") ? key.rfind('.') : key.find('.');
  return {std::string(key.substr(0, dot)), std::string(key.substr(dot + 1))};
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
  return lines;
}

std::string trimmed(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? "" : std::string(line.substr(first));
}

/// The line of the section's header, or of the last line; of "owner.2" that of the third block.
size_t header(const std::vector<std::string>& lines, const std::string& section) {
  const bool owner = section.starts_with("owner.");
  auto left = owner ? parse_number(section.substr(6)).value_or(0) : 0;
  for (size_t i = 0; i < lines.size(); ++i)
    if (trimmed(lines[i]).starts_with(owner ? "[[owner]]" : "[" + section + "]") && left-- == 0)
      return i;
  return lines.size();
}

/// The line that gives the key in its section; none: the number of lines.
size_t line_of(const std::vector<std::string>& lines, const Key& key) {
  for (size_t i = header(lines, key.section) + 1; i < lines.size(); ++i) {
    const std::string line = trimmed(lines[i]);
    if (line.starts_with("[")) break;
    if (!line.starts_with(key.name)) continue;
    const std::string rest = trimmed(std::string_view(line).substr(key.name.size()));
    if (rest.starts_with("=")) return i;
  }
  return lines.size();
}

/// Words need quotes, numbers and the rest do not.
std::string as_toml(const std::string& value) {
  const bool plain = parse_number(value) || value == "true" || value == "false" ||
                     value.starts_with("\"") || value.starts_with("[");
  return plain ? value : "\"" + value + "\"";
}

void put(std::vector<std::string>& lines, const std::string& key, const std::string& value,
         const std::string& why) {
  const Key where = split(key);
  const std::string line =
      where.name + " = " + as_toml(value) + (why.empty() ? "" : "  # forecast: " + why);
  if (const size_t at = line_of(lines, where); at < lines.size()) return void(lines[at] = line);
  size_t at = header(lines, where.section);
  if (at == lines.size() && where.section.starts_with("owner.")) return;  // of a table of owners
  if (at == lines.size()) lines.push_back("[" + where.section + "]"), at = lines.size() - 1;
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at) + 1, line);
}

/// What `parley init` says of keys that are open, in sections where some were chosen since.
void drop_open_marks(std::vector<std::string>& lines, std::span<const Choice> choices) {
  for (const Choice& choice : choices) {
    const size_t first = header(lines, split(choice.key).section) + 1;
    for (size_t i = first; i < lines.size() && !trimmed(lines[i]).starts_with("[");)
      if (trimmed(lines[i]).starts_with("# OPEN:"))
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
      else
        ++i;
  }
}

}  // namespace

Result<bool> is_given(std::string_view toml, std::span<const charter::Override> changes,
                      std::string_view key) {
  for (const charter::Override& change : changes)
    if (change.key == key) return true;
  const charter::Value document = TRY(charter::parse_toml(toml, ""));
  const Key where = split(key);
  const auto& sections = *document.get<charter::Value::Members>();
  const auto section = sections.find(where.section);
  if (section == sections.end()) return false;
  const auto* members = section->second.get<charter::Value::Members>();
  return members != nullptr && members->contains(where.name);
}

std::string completed(std::string_view toml, std::span<const charter::Override> changes,
                      std::span<const Choice> choices) {
  std::vector<std::string> lines = lines_of(toml);
  for (const charter::Override& change : changes) put(lines, change.key, change.value, "");
  for (const Choice& choice : choices) put(lines, choice.key, choice.value, choice.why);
  drop_open_marks(lines, choices);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::vector<charter::Override> of_owners(std::span<const charter::Override> changes) {
  std::vector<charter::Override> found;
  for (const charter::Override& change : changes)
    if (change.key.starts_with("owner.")) found.push_back(change);
  return found;
}

namespace {

constexpr const char* kClip = "privacy.max_grad_norm";

/// Rounded to three digits, so that the text has the exact value.
Choice clip_choice(const Draft& draft, const std::shared_ptr<const data::Rows>& pilot,
                   int threads) {
  const double clip = distance_clip(draft.charter, pilot, threads);
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.3g", clip);
  return {kClip, digits,
          "95 % of the public rows' gradients are shorter, in the metric of their Hessian"};
}

/// A charter of rule "distance", which trains nothing: its clip is chosen on the public rows, and
/// what its one number would tell is said before anyone pays.
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

/// The same draft under Gaussian noise: delta as given, or min(1e-6, n_i^-1.5).
charter::Charter under_gaussian(charter::Charter draft, const std::optional<double>& delta) {
  draft.privacy.mechanism = charter::MechanismName::kGaussian;
  for (charter::Owner& owner : draft.owners)
    owner.delta = delta.value_or(std::min(1e-6, std::pow(static_cast<double>(owner.rows), -1.5)));
  return draft;
}

/// Laplace noise gives pure epsilon; Gaussian noise is taken only where owners accept a delta and
/// the forecast is better by more than 5 %.
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
  ForecastOptions how = options;
  how.unseen = chosen.unseen;
  tuned.forecast = TRY(forecast(charter, chosen.rows, how));
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
                 "Give it; a good start is rounds = 20, step = 3.0, momentum = 0.8.",
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
  // The text is parsed again: what it says is what is forecast.
  charter::Charter charter = TRY(
      charter::parse_charter(tuned.charter, "the completed charter", draft.charter.folder, own));
  charter.schema.bundle = draft.charter.schema.bundle;
  tuned.forecast = TRY(forecast(charter, pilot, options));
  tuned.forecast.advice.chosen = chosen.choices;
  tuned.forecast.job.complete = draft.charter.complete();
  return tuned;
}

}  // namespace parley::forecast
