#include "parley/forecast/choose/open/ways.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "parley/base/math/number.h"
#include "parley/charter/available.h"
#include "parley/forecast/choose/complete.h"
#include "parley/forecast/jobs.h"

namespace parley::forecast {
namespace {

using charter::Charter;

/// What is forecast is what the text says. None where the text does not allow it.
std::optional<Way> read(const Draft& draft, Way way) {
  std::vector<charter::Override> own;
  for (const charter::Override& change : draft.changes)
    if (change.key.starts_with("owner.")) own.push_back(change);
  auto charter = charter::parse_charter(completed(draft.text, draft.changes, way.choices),
                                        "the draft as " + way.name, draft.charter.folder, own);
  if (!charter) return std::nullopt;
  way.charter = *std::move(charter);
  way.charter.schema.bundle = draft.charter.schema.bundle;
  return way;
}

double accepted_delta(const Draft& draft, const ForecastOptions& options) {
  double least = 1;
  for (const charter::Owner& owner : draft.charter.owners)
    least = std::min(least, owner.delta > 0 ? owner.delta : options.delta.value_or(0));
  return least;
}

/// For a comparison with what nobody has accepted yet.
double usual_delta(const Charter& draft) {
  double rows = 1;
  for (const charter::Owner& owner : draft.owners)
    rows = std::max(rows, static_cast<double>(owner.rows));
  return std::min(1e-6, std::pow(rows, -1.5));
}

Way with_noise(Way way, const Draft& draft, double delta) {
  way.choices.push_back({"privacy.mechanism", delta > 0 ? "gaussian" : "laplace",
                         delta > 0 ? "owners accept a delta: less noise for the same epsilon"
                                   : "pure epsilon: no delta is accepted"});
  const bool all = std::all_of(draft.charter.owners.begin(), draft.charter.owners.end(),
                               [](const charter::Owner& owner) { return owner.delta > 0; });
  if (!all || delta == 0)
    way.choices.push_back(
        {"privacy.delta", shortest(delta), delta > 0 ? "as accepted" : "pure epsilon"});
  return way;
}

Way own_noise() {
  return {Way::Kind::kOwnNoise,
          "sync, each owner's own noise",
          true,
          true,
          {},
          {{"protocol.name", "sync", "each owner adds noise of its own"}}};
}

Way secure_sums(size_t owners) {
  const int64_t survivors = charter::usual_survivors(static_cast<int64_t>(owners));
  return {Way::Kind::kSecureSums,
          "sync in secure sums",
          true,
          true,
          {},
          {{"protocol.name", "sync", "in secure sums: the noise of one owner protects all"},
           {"secure_aggregation.survivors", std::to_string(survivors),
            fmt::format("of {} owners; a round with fewer is abandoned", owners)}}};
}

Way federated(double norm) {
  return {Way::Kind::kFederated,
          "federated",
          true,
          true,
          {},
          {{"protocol.name", "federated", "local steps between secure sums"},
           {"privacy.max_row_norm", shortest(norm), "nine of ten public rows are shorter"}}};
}

Way async() {
  return {Way::Kind::kAsync,
          "async, owners come when they can",
          true,
          true,
          {},
          {{"protocol.name", "async", "owners need not be there at the same time"}}};
}

bool wanted(const ForecastOptions& options, std::string_view word) {
  const auto& only = options.protocols;
  return only.empty() || std::find(only.begin(), only.end(), word) != only.end();
}

}  // namespace

double Way::variance(int64_t rounds) const {
  Charter asked = charter;
  asked.protocol.rounds = rounds;
  const auto law = plan::NoiseLaw::of(asked);
  if (!law) return 0;
  const auto strengths = law->strengths(asked.owners);
  const double n = owners_rows(asked);
  double sum = 0, strictest = 0;  // Every owner's clip reaches 1/n of the mean.
  for (const double strength : strengths)
    sum += strength / (n * n), strictest = std::max(strictest, strength / (n * n));
  return (asked.secure_aggregation ? strictest : sum) *
         std::pow(plan::paid_answers(asked), law->power());
}

std::vector<Way> ways_of(const Draft& draft, const ForecastOptions& options) {
  const double accepted = accepted_delta(draft, options);
  const size_t owners = draft.charter.owners.size();
  std::vector<Way> found;
  const auto add = [&](Way way, double delta, bool is_accepted) {
    way = with_noise(std::move(way), draft, delta);
    way.accepted = is_accepted;
    if (!is_accepted) way.name += ", with a delta";
    if (auto read_way = read(draft, std::move(way))) found.push_back(*std::move(read_way));
  };
  add(own_noise(), accepted, true);
  if (!found.empty()) found.front().wanted = wanted(options, "sync");
  const double delta = accepted > 0 ? accepted : usual_delta(draft.charter);
  if (wanted(options, "sync") && accepted == 0) add(own_noise(), delta, false);
  if (wanted(options, "sums") && owners > 1) add(secure_sums(owners), delta, accepted > 0);
  if (wanted(options, "federated") && owners > 1) add(federated(1), delta, accepted > 0);
  if (wanted(options, "async")) add(async(), accepted, true);
  return found;
}

Result<Way> with_row_norm(const Draft& draft, const Way& way, double norm) {
  Way longer = way;
  for (Choice& choice : longer.choices)
    if (choice.key == "privacy.max_row_norm") choice.value = shortest(norm);
  auto found = read(draft, std::move(longer));
  if (!found)
    return Error{Code::kInvalid, "no federated charter has rows of norm " + shortest(norm)};
  return *std::move(found);
}

}  // namespace parley::forecast
