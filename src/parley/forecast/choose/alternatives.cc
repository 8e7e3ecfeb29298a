#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "parley/base/math/number.h"
#include "parley/charter/available.h"
#include "parley/data/transforms/bounds_bundle.h"
#include "parley/data/transforms/transform.h"
#include "parley/forecast/choose/open.h"
#include "parley/forecast/choose/tune.h"
#include "parley/forecast/pilot/statistics.h"
#include "parley/forecast/predict/predict.h"
#include "parley/learn/trees/public_trees.h"

namespace parley::forecast {
namespace {

using charter::Charter;
using SharedRows = std::shared_ptr<const data::Rows>;

/// Standard deviation of a standardised column; l2 and clip then mean the same with any number of
/// columns.
constexpr double kDeviation = .5;
constexpr double kCut = 4;  // in deviations
/// With fewer public rows, half of them are too few to grow trees.
constexpr size_t kRowsForTrees = 400;

/// The public rows without the bias, as they were encoded.
data::Rows encoded(const Charter& draft, const data::Rows& pilot) {
  const size_t columns = pilot.columns() - (draft.schema.bias ? 1 : 0);
  data::Rows rows(columns);
  for (size_t i = 0; i < pilot.size(); ++i) rows.add(pilot.row(i).first(columns), pilot.label(i));
  return rows;
}

SharedRows applied(const Charter& draft, const data::Bundle& bundle, const data::Rows& rows) {
  data::Transform transform(bundle);
  const size_t features = transform.features();
  auto found = std::make_shared<data::Rows>(features + (draft.schema.bias ? 1 : 0));
  std::vector<double> z(found->columns(), 1);
  for (size_t i = 0; i < rows.size(); ++i) {
    transform.apply(rows.row(i), std::span(z).first(features));
    found->add(z, rows.label(i));
  }
  return found;
}

/// What `fit` gives the columns that vary, at the deviation above.
data::FitOptions with_length(data::FitOptions fit, size_t columns) {
  fit.length = kDeviation * std::sqrt(static_cast<double>(columns));
  return fit;
}

class Maker {
 public:
  Maker(const Charter& draft, const data::Rows& grown_on) : draft_(draft), grown_on_(grown_on) {}

  /// None where it cannot be made.
  std::optional<FeatureSet> make(std::string name, const data::FitOptions& fit,
                                 const data::Rows& rows) const {
    const Hash pilot = draft_.pilot ? draft_.pilot->sha256 : Hash{};
    auto bundle = data::fit_bundle(grown_on_, draft_.schema, pilot, fit);
    if (!bundle) return std::nullopt;
    FeatureSet set{std::move(name), *std::move(bundle), nullptr, fit.trees.has_value()};
    set.rows = applied(draft_, *set.bundle, rows);
    return set;
  }
  FeatureSet by_bounds(std::string name, const data::Rows& rows) const {
    const Hash pilot = draft_.pilot ? draft_.pilot->sha256 : Hash{};
    FeatureSet set{std::move(name), data::bounds_bundle(grown_on_, draft_.schema, pilot), nullptr,
                   false};
    set.rows = applied(draft_, *set.bundle, rows);
    return set;
  }
  data::FitOptions standardised() const {
    auto plain = data::fit_bundle(grown_on_, draft_.schema, {}, {});
    return with_length({.cut = kCut}, plain ? plain->select.size() : 1);
  }
  data::FitOptions components(size_t count) const {
    return with_length({.components = count, .whiten = true}, count);
  }
  /// None where no tree can be grown.
  std::optional<data::FitOptions> leaves() const {
    auto trees = learn::public_trees(grown_on_, charter::loss_of(draft_.model));
    if (!trees) return std::nullopt;
    data::FitOptions fit = standardised();
    fit.trees = *std::move(trees);
    return fit;
  }

 private:
  const Charter& draft_;
  const data::Rows& grown_on_;
};

}  // namespace

std::vector<FeatureSet> feature_sets(const Charter& draft, const SharedRows& pilot) {
  if (draft.preprocess) return {{"the charter's own features", draft.schema.bundle, pilot, false}};
  const data::Rows rows = encoded(draft, *pilot);
  const Maker maker(draft, rows);
  std::vector<FeatureSet> found;
  const auto add = [&](const char* name, const data::FitOptions& fit) {
    if (auto set = maker.make(name, fit, rows)) found.push_back(*std::move(set));
  };
  add("columns, standardised by the pilot", maker.standardised());
  found.push_back(maker.by_bounds("columns, by public bounds", rows));
  if (rows.size() >= kRowsForTrees)
    if (const auto leaves = maker.leaves()) add("columns and leaves of public trees", *leaves);
  add("20 whitened components", maker.components(20));
  add("10 whitened components", maker.components(10));
  return found;
}

std::vector<LeavesCheck> leaves_checks(const Charter& draft, const SharedRows& pilot) {
  std::vector<LeavesCheck> found;
  if (draft.preprocess || pilot->size() < kRowsForTrees) return found;
  const data::Rows all = encoded(draft, *pilot);
  for (size_t half = 0; half < 2; ++half) {
    const auto grown_on = part_of(all, half, 2), judged = part_of(all, 1 - half, 2);
    const Maker maker(draft, *grown_on);
    const auto leaves = maker.leaves();
    if (!leaves) return {};
    auto with = maker.make("with leaves", *leaves, *judged);
    auto without = maker.make("without", maker.standardised(), *judged);
    if (!with || !without) return {};
    found.push_back({*std::move(with), *std::move(without)});
  }
  return found;
}

std::vector<SharedRows> unseen_leaves(const Charter& draft, const SharedRows& pilot) {
  std::vector<SharedRows> found;
  for (const LeavesCheck& check : leaves_checks(draft, pilot)) found.push_back(check.with.rows);
  return found;
}

namespace {

/// The option's charter, parsed from the draft's text. None where the text does not allow it.
std::optional<ProtocolOption> read(const Draft& draft, ProtocolOption option) {
  auto charter = charter::parse_charter(completed(draft.text, draft.changes, option.choices),
                                        "the draft as " + option.name, draft.charter.folder,
                                        of_owners(draft.changes));
  if (!charter) return std::nullopt;
  option.charter = *std::move(charter);
  option.charter.schema.bundle = draft.charter.schema.bundle;
  return option;
}

double accepted_delta(const Draft& draft, const ForecastOptions& options) {
  double least = 1;
  for (const charter::Owner& owner : draft.charter.owners)
    least = std::min(least, owner.delta > 0 ? owner.delta : options.delta.value_or(0));
  return least;
}

/// For a comparison, where no owner has accepted a delta.
double usual_delta(const Charter& draft) {
  double rows = 1;
  for (const charter::Owner& owner : draft.owners)
    rows = std::max(rows, static_cast<double>(owner.rows));
  return std::min(1e-6, std::pow(rows, -1.5));
}

ProtocolOption with_noise(ProtocolOption option, const Draft& draft, double delta) {
  option.choices.push_back({"privacy.mechanism", delta > 0 ? "gaussian" : "laplace",
                            delta > 0 ? "owners accept a delta: less noise for the same epsilon"
                                      : "pure epsilon: no delta is accepted"});
  const bool all = std::all_of(draft.charter.owners.begin(), draft.charter.owners.end(),
                               [](const charter::Owner& owner) { return owner.delta > 0; });
  if (!all || delta == 0)
    option.choices.push_back(
        {"privacy.delta", shortest(delta), delta > 0 ? "as accepted" : "pure epsilon"});
  return option;
}

ProtocolOption own_noise() {
  return {ProtocolOption::Kind::kOwnNoise,
          "sync, each owner's own noise",
          true,
          true,
          {},
          {{"protocol.name", "sync", "each owner adds noise of its own"}}};
}

ProtocolOption secure_sums(size_t owners) {
  const int64_t survivors = charter::usual_survivors(static_cast<int64_t>(owners));
  return {ProtocolOption::Kind::kSecureSums,
          "sync in secure sums",
          true,
          true,
          {},
          {{"protocol.name", "sync", "in secure sums: the noise of one owner protects all"},
           {"secure_aggregation.survivors", std::to_string(survivors),
            fmt::format("of {} owners; a round with fewer is abandoned", owners)}}};
}

ProtocolOption federated(double norm) {
  return {ProtocolOption::Kind::kFederated,
          "federated",
          true,
          true,
          {},
          {{"protocol.name", "federated", "local steps between secure sums"},
           {"privacy.max_row_norm", shortest(norm), "nine of ten public rows are shorter"}}};
}

ProtocolOption async() {
  return {ProtocolOption::Kind::kAsync,
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

double ProtocolOption::variance(int64_t rounds) const {
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

std::vector<ProtocolOption> protocol_options(const Draft& draft, const ForecastOptions& options) {
  const double accepted = accepted_delta(draft, options);
  const size_t owners = draft.charter.owners.size();
  std::vector<ProtocolOption> found;
  const auto add = [&](ProtocolOption option, double delta, bool is_accepted) {
    option = with_noise(std::move(option), draft, delta);
    option.accepted = is_accepted;
    if (!is_accepted) option.name += ", with a delta";
    if (auto read_option = read(draft, std::move(option))) found.push_back(*std::move(read_option));
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

Result<ProtocolOption> with_row_norm(const Draft& draft, const ProtocolOption& option,
                                     double norm) {
  ProtocolOption longer = option;
  for (Choice& choice : longer.choices)
    if (choice.key == "privacy.max_row_norm") choice.value = shortest(norm);
  auto found = read(draft, std::move(longer));
  if (!found)
    return Error{Code::kInvalid, "no federated charter has rows of norm " + shortest(norm)};
  return *std::move(found);
}

}  // namespace parley::forecast
